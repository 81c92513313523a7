# server.sh COMMAND PYTHON: a command tilec that is the package's, which PYTHONPATH names.
printf '#!/bin/sh\nexec %s -B -m tilec "$@"\n' "$2" >"$1" && chmod +x "$1"
