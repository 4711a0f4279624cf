#!/usr/bin/env bash
# Measures on a GPU machine what the software driver and the judge of order are compared with: the
# answers of single calls, the order that calls keep, and the answers to random sequences of calls.
#
#   OUT=results runners/gpu/measure.sh
#
#   OUT        where the results go (default: ./out); each program has a file there
#   CUDA       the folder of cuda.h (default: /usr/local/cuda/include)
#   PROGRAMS   a folder of the built programs, for a machine without a compiler
#   PARTS      answers, checks, order, further, remaining, copies, remaining-copies, sequences; and
#              devices, which needs two devices
#              (default: answers, checks, remaining-copies, remaining, sequences)
#   FIRST      the number of the first sequence (default: 1000); those from 10000000 on also make
#              the calls of further_calls.h
#   COUNT      how many there are (default: 24000)
#   EXPECTED   a file that `sequences FIRST COUNT hash` wrote on another driver: the text of a
#              sequence is written only if it differs (default: of each one)
#   QUICK      1: saves time, see sequences.cpp; EXPECTED must be written with it too
#   JOBS       sequences run in so many processes (default: 12)
#   LIMIT      seconds for each part (default: 200)
#
# Exit code: 0 if every part ran to its end; 1 if one did not. Its file holds what it wrote.
set -uo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-out}
limit=${LIMIT:-200}
failed=0
say() { printf 'measure: %s\n' "$*"; }

programs=${PROGRAMS:-}
if [ -z "$programs" ]; then
  programs=$(mktemp -d)
  trap 'rm -rf "$programs"' EXIT
  driver=$(ldconfig -p | awk '/libcuda\.so\.1 .*x86-64|libcuda\.so\.1$/ {print $NF; exit}')
  for name in answers/answers answers/checks order/order sequences/sequences; do
    g++ -std=c++17 -O1 -w "$here/reference/libcuda/tests/$name.cpp" \
      -I "${CUDA:-/usr/local/cuda/include}" "${driver:--lcuda}" -lpthread \
      -o "$programs/${name#*/}" ||
      { say "$name cannot be built" >&2; exit 1; }
  done
fi
mkdir -p "$out"

# Runs a program with the time limit; what it prints goes into a file of the results.
part() {
  local file=$1 start=$SECONDS
  shift
  timeout "$limit" "$@" >"$out/$file" 2>"$out/$file.err"
  local status=$?
  [ -s "$out/$file.err" ] || rm -f "$out/$file.err"
  [ "$status" = 0 ] || failed=1
  say "$file: exit code $status after $((SECONDS - start)) s, $(wc -l <"$out/$file") lines"
}

# The sequences in several processes, each with a share of them, put together in order.
sequences() {
  local first=${FIRST:-1000} count=${COUNT:-24000} jobs=${JOBS:-12} share job start=$SECONDS
  local mode=(full) waiting=()
  [ -z "${EXPECTED:-}" ] || mode=(unlike "$EXPECTED")
  share=$(((count + jobs - 1) / jobs))
  for ((job = 0; job < jobs; job++)); do
    timeout "$limit" "$programs/sequences" $((first + job * share)) "$share" "${mode[@]}" \
      >"$programs/share-$job.txt" 2>>"$out/sequences.err" &
    waiting+=($!)
  done
  for job in "${waiting[@]}"; do wait "$job" || failed=1; done
  for ((job = 0; job < jobs; job++)); do cat "$programs/share-$job.txt"; done |
    gzip -9 >"$out/sequences.txt.gz"
  [ -s "$out/sequences.err" ] || rm -f "$out/sequences.err"
  say "sequences: $((SECONDS - start)) s"
}

command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for name in ${PARTS:-answers checks remaining-copies remaining sequences}; do
  case $name in
    answers | checks) part "$name.tsv" "$programs/$name" ;;
    order) part order.tsv "$programs/order" table ;;
    further | remaining | copies | remaining-copies | devices)
      part "$name.tsv" "$programs/order" "$name" ;;
    sequences) sequences ;;
    *) say "there is no part $name" >&2; failed=1 ;;
  esac
done
exit "$failed"
