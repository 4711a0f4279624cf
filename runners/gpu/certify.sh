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
#   CUDA      CUDA's folder with include and lib64 (default: /usr/local/cuda)
#   SUBJECTS  reference, numba, allocert and rmm as memory managers (default: these four); host for
#             numba.cuda as the host of a manager; producer-LIBRARY and consumer-LIBRARY for the
#             array interface of a library that has an adapter in allocert.adapters: producer-torch;
#             handler and pinned for the handlers of allocert.numpy;
#             place for the reference of place, place-ABI for its functions (torch, cupy), and
#             place-NAME for an allocator of another library, whose names are in the function
#             `allocator` below (all-places: all of these)
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

# The subject of a name on its side, the module that must be there for it, and the ABI of an
# allocator by place.
subject() {
  case $1 in
    reference) echo emm reference - ;;
    numba) echo emm numba.cuda.cudadrv.driver:NumbaCUDAMemoryManager numba.cuda ;;
    allocert) echo emm allocert.numba numba.cuda ;;
    host) echo emm-host numba.cuda numba.cuda ;;
    rmm) echo emm rmm.allocators.numba:RMMNumbaManager rmm.allocators.numba ;;
    handler | pinned) echo nep49 "allocert.numpy:$1" allocert.numpy ;;
    producer-*) echo cai-producer "$(adapter "${1#*-}"):Producer" "$(adapter "${1#*-}")" ;;
    consumer-warp) echo cai-consumer "$(adapter warp):Sized" "$(adapter warp)" ;;
    consumer-*) echo cai-consumer "$(adapter "${1#*-}"):Consumer" "$(adapter "${1#*-}")" ;;
    place) echo place reference - ;;
    place-*) allocator "${1#place-}" ;;
    *) return 1 ;;
  esac
}

adapter() { echo "allocert.adapters.$1"; }

# The allocator by place of a name.
allocator() {
  case $1 in
    torch | cupy) echo place reference - "$1" ;;
    runtime) echo place "$runtime" - torch:runtime_malloc,runtime_free ;;
    runtime-async) echo place "$runtime" - torch:runtime_malloc_async,runtime_free_async ;;
    runtime-cupy) echo place "$runtime" - cupy:runtime_cupy_malloc,runtime_cupy_free ;;
    # Its libraries must be on LD_LIBRARY_PATH: librmm, rapids_logger and CUDA's runtime.
    rmm-torch)
      echo place "$site/rmm/librmm/_torch_allocator.so" rmm.librmm torch:allocate,deallocate ;;
    rmm-cuda | rmm-cuda_async | rmm-pool | rmm-arena | rmm-binning | rmm-reference)
      echo place "rmm_resources:${1#rmm-}" rmm_resources rmm ;;
    torch-caching) echo place torch_allocator:Caching torch rmm ;;
    cupy-pool | cupy-async_pool) echo place "cupy_pools:${1#cupy-}" cupy rmm ;;
    core-device) echo place cuda.core:DeviceMemoryResource cuda.core cuda-core ;;
    core-pinned) echo place core_resources:pinned cuda.core cuda-core ;;
    *) return 1 ;;
  esac
}

all_places="place place-torch place-cupy place-runtime place-runtime-async place-runtime-cupy
  place-rmm-torch place-rmm-cuda place-rmm-cuda_async place-rmm-pool place-rmm-arena
  place-rmm-binning place-rmm-reference place-torch-caching place-cupy-pool place-cupy-async_pool
  place-core-device place-core-pinned"

# Functions over CUDA's runtime, if there is a compiler and the runtime.
runtime=$home/libruntime_allocator.so
subjects_folder=$(cd "$(dirname "$0")/subjects" && pwd)
cuda=${CUDA:-/usr/local/cuda}
g++ -shared -fPIC -O1 -I "$cuda/include" "$subjects_folder/runtime_allocator.cpp" -o "$runtime" \
  -L "$cuda/lib64" -lcudart 2>"$home/compiler" ||
  say "no functions over CUDA's runtime: $(tail -n 1 "$home/compiler")"
export PYTHONPATH=$subjects_folder${PYTHONPATH:+:$PYTHONPATH}

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
  local name=$1 words side argument module abi status file
  words=$(subject "$name") || give_up "there is no subject $name; there are reference, numba," \
    "allocert, rmm, host, handler, pinned, producer-LIBRARY, consumer-LIBRARY," $all_places
  read -r side argument module abi <<<"$words"
  if [ "$module" != - ] && ! "$interpreter" -c "import $module" >"$home/import" 2>&1; then
    say "$name: left out, because $module cannot be imported: $(tail -n 1 "$home/import")"
    return
  fi
  file=$(expected "$name")
  local start=$SECONDS
  "$allocert" run "$side" "$argument" --driver real --python "$interpreter" --jobs "$jobs" \
    --filter "$filter" ${abi:+--abi "$abi"} --out "$home/$name.jsonl" ${file:+--expect "$file"} \
    >"$out/$name.txt" 2>&1
  status=$?
  if [ -s "$home/$name.jsonl" ]; then gzip -c "$home/$name.jsonl" >"$out/$name.jsonl.gz"; fi
  say "$name: exit code $status${file:+, by ${file##*/},} after $((SECONDS - start)) s:" \
    "$(tail -n 1 "$out/$name.txt")"
  [ "$status" -le 1 ] || { failed=1; cat "$out/$name.txt"; }
}

command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for name in ${subjects/all-places/$all_places}; do
  certify "$name"
done
exit "$failed"
