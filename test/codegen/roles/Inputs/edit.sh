#!/bin/sh
# The emulator's compiler ($COMPILER) behind an edit of the text ($EDIT, for sed), which must change it.
for a in "$@"; do
    case "$a" in *.hip) cp "$a" "$a.before" && sed -i -E "$EDIT" "$a" && cmp -s "$a" "$a.before" && echo "no change" && exit 9 ;; esac
done
exec "$COMPILER" -w "$@"
