# package.sh BUILD SOURCE CACHE COMMAND..: runs a command with the Python package of the tree and a cache of its own.
set -eu
export TILEC="$1/bin/tilec" PYTHONPATH="$2/python" TILEC_CACHE="$3/cache"
mkdir -p "$3"
shift 3
exec "$@"
