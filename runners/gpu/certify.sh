#!/usr/bin/env bash
# Certifies on a GPU machine that needs no network: installs the given wheels and runs the suite on
# the genuine driver.
#
#   OUT=results runners/gpu/certify.sh wheels/*.whl
#
# The wheels: allocert's own (`pip wheel --no-deps .`), numba-cuda with what it needs (numba,
# llvmlite, numpy, cuda-bindings, cuda-core, cuda-pathfinder, nvidia-cuda-runtime), and rmm with
# what it needs if it is to be certified. They must fit the interpreter.
#
#   OUT       where the reports go (default: ./out): NAME.txt for a person, NAME.jsonl.gz for
#             `allocert judge`
#   PYTHON    the interpreter (default: python3)
#   OWN       1: what is not among the wheels comes from that interpreter's own packages
#   JOBS      cases side by side (default: 4); with more than 1, other cases' memory shows in
#             emm/info
#   FILTER    only these cases, e.g. emm/info
#   SUBJECTS  reference, numba, allocert and rmm as memory managers (default: these four); host for
#             numba.cuda as the host of a manager; place for the allocator by place;
#             producer-LIBRARY and consumer-LIBRARY for the array interface of a library that has
#             an adapter in allocert.adapters: producer-torch
#   EXPECT    the folder of expectation files (default: that of this repository). A file lists what
#             is expected of one version of a library
#   ALLOCERT_REAL_DRIVER  the genuine libcuda.so.1, if it is not in a usual place
#
# Exit code: 0 if every subject was judged, whatever the verdict; 1 if one could not be.
set -uo pipefail

out=${OUT:-out}
jobs=${JOBS:-4}
filter=${FILTER:-*}
subjects=${SUBJECTS:-reference numba allocert rmm}
expectations=${EXPECT:-$(dirname "$0")/../../fixtures/expectations}
failed=0

source "$(dirname "$0")/environment.sh" "$@"
mkdir -p "$out" || give_up "cannot make $out"
allocert=$site/allocert/bin/allocert
[ -f "$allocert" ] || give_up "the wheel of allocert is not among those given: it holds the program"
chmod +x "$allocert"

# The subject of a name on its side, and the module that must be there for it.
subject() {
  case $1 in
    reference) echo emm reference - ;;
    numba) echo emm numba.cuda.cudadrv.driver:NumbaCUDAMemoryManager numba.cuda ;;
    allocert) echo emm allocert.numba numba.cuda ;;
    host) echo emm-host numba.cuda numba.cuda ;;
    place) echo place reference - ;;
    rmm) echo emm rmm.allocators.numba:RMMNumbaManager rmm.allocators.numba ;;
    producer-*) echo cai-producer "$(adapter "${1#*-}"):Producer" "$(adapter "${1#*-}")" ;;
    consumer-*) echo cai-consumer "$(adapter "${1#*-}"):Consumer" "$(adapter "${1#*-}")" ;;
    *) return 1 ;;
  esac
}

adapter() { echo "allocert.adapters.$1"; }

# The expectation file of numba.cuda as a host, or of a library's side of the array interface, if
# there is one: torch-2.11.0-cai-producer.yaml for producer-torch.
expected() {
  local side=cai-${1%%-*} library=${1#*-} file
  if [ "$1" = host ]; then side=host library=numba-cuda; fi
  for file in "$expectations/${library//_/-}"-[0-9]*"-$side.yaml"; do
    if [ -f "$file" ]; then echo "$file"; fi
  done | tail -n 1
}

certify() {
  local name=$1 words side argument module status file
  words=$(subject "$name") || give_up "there is no subject $name; there are reference, numba," \
    "allocert, rmm, host, place, producer-LIBRARY, consumer-LIBRARY"
  read -r side argument module <<<"$words"
  if [ "$module" != - ] && ! "$interpreter" -c "import $module" >"$home/import" 2>&1; then
    say "$name: left out, because $module cannot be imported: $(tail -n 1 "$home/import")"
    return
  fi
  file=$(expected "$name")
  local start=$SECONDS
  "$allocert" run "$side" "$argument" --driver real --python "$interpreter" --jobs "$jobs" \
    --filter "$filter" --out "$home/$name.jsonl" ${file:+--expect "$file"} >"$out/$name.txt" 2>&1
  status=$?
  if [ -s "$home/$name.jsonl" ]; then gzip -c "$home/$name.jsonl" >"$out/$name.jsonl.gz"; fi
  say "$name: exit code $status${file:+, by ${file##*/},} after $((SECONDS - start)) s:" \
    "$(tail -n 1 "$out/$name.txt")"
  [ "$status" -le 1 ] || { failed=1; cat "$out/$name.txt"; }
}

command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for name in $subjects; do
  certify "$name"
done
exit "$failed"
