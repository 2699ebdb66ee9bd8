#!/usr/bin/env bash
# The installed manual: every page states the options of its Markdown page, word for word and in their order, and shows its commands line by
# line, whether read as it is or through groff, which finds nothing to complain about; man finds it under both names.
#   check_manual.sh PREFIX TYPE...
#   check_manual.sh --self-test PREFIX TYPE     damaged copies must be found wrong
set -uo pipefail

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

# From a page as text, the section on options: an option and what it means, a line each.
options_of() { sed -e '1,/^OPTIONS$/d' | sed -e 's/^ *//' -e '/^$/d' -e '/^PC[A-Z0-9]*(3)/d' -e '/^AMGKit /d'; }

# The lines of a Markdown page that are shown as they are.
shown_in() { sed -n -e '/^```/,/^```/{/^```/d;/./p}' "$1"; }

# Each of these lines is a line of the text.
has_lines() { # TEXT LINE...
  local text=$1 line
  for line in "${@:2}"; do
    grep -qxF -- "${line#"${line%%[! ]*}"}" <<<"$text" || fail "there is no line: $line"
  done
}

plain() { # PAGE
  sed -e 's/^\.SH //' -e '/^\.TP$/d' -e 's/\\f[BR]//g' -e 's/\\-/-/g' -e 's/\\(ha/^/g' -e 's/\\(ti/~/g' -e 's/\\e/\\/g' -e 's/^\\&//' "$1"
}

rendered() { # PAGE
  groff -ww -man -Tascii -P-cbou -rLL=9999n -rHY=0 "$1"
}

check_type() { # PREFIX TYPE
  local man markdown=$1/share/doc/amgkit/$2.md name=PC${2^^} page expected complaints shown
  man=$(cd "$1" && pwd)/share/man
  page=$man/man3/$name.3
  expected=$(sed -n 's/^- `\(-[a-z_0-9]*\)`: \(.*\)/\1\n\2/p' "$markdown")
  (($(wc -l <<<"$expected") > 20)) || fail "$markdown states hardly any options"
  diff <(echo "$expected") <(plain "$page" | options_of) || fail "$page states other options than $markdown"
  mapfile -t shown < <(shown_in "$markdown")
  ((${#shown[@]} > 2)) || fail "$markdown shows hardly any commands"
  has_lines "$(plain "$page" | sed 's/^ *//')" "${shown[@]}"
  if command -v groff >/dev/null; then
    complaints=$(rendered "$page" 2>&1 >/dev/null)
    [[ -z $complaints ]] || fail "groff: $complaints"
    diff <(echo "$expected") <(rendered "$page" | options_of) || fail "$page, formatted, states other options than $markdown"
    has_lines "$(rendered "$page" | sed 's/^ *//')" "${shown[@]}"
  else
    echo 'there is no groff: the page was not formatted'
  fi
  if [[ $(man --version 2>/dev/null) =~ ^man\ [0-9] ]]; then
    [[ $(man -M "$man" -w 3 "$name") -ef $page && $(man -M "$man" -w "$2") -ef $page ]] || fail "man does not find $name and $2"
  else
    echo 'there is no man: the page was not looked up'
  fi
}

# Each damage is a sed command for the page.
self_test() { # PREFIX TYPE
  local copy page damage
  copy=$(mktemp -d)
  trap "rm -rf '$copy'" EXIT
  page=$copy/share/man/man3/PC${2^^}.3
  for damage in 's/integer in .1, 4./integer in [1, 5]/' 's/default/preset/' '$d' 's/\\-pc_/pc_/' '/^\.SH OPTIONS/d' 's/program \\/program.\\/' \
    's/^\\&\.\/program/.\/program/' '/^\.nf$/d' '$a .XX'; do
    if [[ $damage == *XX || $damage == *nf* || $damage == *program/ ]] && ! command -v groff >/dev/null; then continue; fi
    rm -rf "$copy/share"
    mkdir "$copy/share"
    cp -r "$1/share/man" "$1/share/doc" "$copy/share/"
    (check_type "$copy" "$2") >/dev/null || fail 'an undamaged copy was found wrong'
    sed -i "$damage" "$page"
    ! (check_type "$copy" "$2") >/dev/null 2>&1 || fail "nothing was found wrong after sed '$damage'"
  done
}

if [[ $1 == --self-test ]]; then
  self_test "$2" "$3"
else
  for type in "${@:2}"; do check_type "$1" "$type"; done
fi
echo passed
