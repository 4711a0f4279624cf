#!/usr/bin/env bash
# Times the reference pool beside RMM's plugin on a GPU machine that needs no network: bench.py in
# an environment of the given wheels.
#
#   runners/gpu/bench.sh wheels/*.whl
#
# The wheels are those of certify.sh, rmm with librmm and rapids-logger among them.
#
#   PYTHON    the interpreter (default: python3)
#   OWN       1: what is not among the wheels comes from that interpreter's own packages
#   BENCH     arguments for bench.py
#
# Exit code: 0 if the bar is met; 1 if it is missed, or the wheels cannot be used; 2 if a plugin
# cannot be used.
set -uo pipefail

source "$(dirname "$0")/environment.sh" "$@"
# shellcheck disable=SC2086 # words
"$interpreter" "$(dirname "$0")/bench.py" ${BENCH:-}
