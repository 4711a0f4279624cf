#!/usr/bin/env bash
# The step of action.yml. It ends with the exit code of `allocert run`, whatever the reports do.
set -uf

folder=${RUNNER_TEMP:-$(mktemp -d)}
run=$folder/allocert-$ALLOCERT_SIDE.jsonl.gz
sarif=$folder/allocert-$ALLOCERT_SIDE.sarif
rm -f "$run" "$sarif"

# shellcheck disable=SC2086 # the arguments are separated by spaces
allocert run "$ALLOCERT_SIDE" "$ALLOCERT_SUBJECT" ${ALLOCERT_ARGUMENTS:-} --out "$run"
code=$?

# A command line or a subject that is refused leaves no run.
if [ -s "$run" ]; then
  allocert report "$run" --format github
  allocert report "$run" --format sarif --out "$sarif"
  allocert report "$run" --format markdown >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
  printf 'run=%s\nsarif=%s\n' "$run" "$sarif" >> "${GITHUB_OUTPUT:-/dev/null}"
fi
exit $code
