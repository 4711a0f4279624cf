# Makes an environment of the given wheels, without a network, for the scripts beside this one,
# which source it: `interpreter` is its Python, `site` the folder that the wheels are in, `home` a
# temporary folder that goes when the script ends.
#
#   PYTHON    the interpreter to make it with (default: python3)
#   OWN       1: what is not among the wheels comes from that interpreter's own packages

script=$(basename "$0" .sh)
say() { printf '%s: %s\n' "$script" "$*"; }
give_up() { say "$*" >&2; exit 1; }

[ $# -gt 0 ] || give_up "no wheels given; usage: $0 WHEEL..."
python=${PYTHON:-python3}
home=$(mktemp -d) || give_up "cannot make a temporary folder"
trap 'rm -rf "$home"' EXIT

if [ -n "${OWN:-}" ]; then
  interpreter=$python
  site=$home/site
  export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
else
  # A folder of an environment of its own, rather than one on PYTHONPATH: libraries look for
  # NVIDIA's files in site-packages.
  "$python" -m venv --without-pip "$home/env" || give_up "$python cannot make an environment"
  interpreter=$home/env/bin/python
  site=$("$interpreter" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') ||
    give_up "$interpreter does not run"
fi
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-compile \
  --target "$site" "$@" ||
  give_up "the wheels cannot be installed; do they fit $("$python" --version)?"
