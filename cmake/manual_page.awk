# A manual page in roff from one of share/amgkit/doc/*.md:
#   awk -f manual_page.awk -v version=X.Y.Z amgmatching.md
# Its first line is "# NAME (`OPTION TYPE`)"; then come paragraphs, the first of which begins with the summary, items "- **tag**: text" and
# "- `-option`: text" that may go on indented, and headings "## Section". Inline, `code` and **strong** become bold.

# Text as roff takes it literally, with the inline marks.
function roff(text)
{
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/\^/, "\\(ha", text)
  gsub(/~/, "\\(ti", text)
  while (match(text, /`[^`]*`/)) text = bold(text, 1)
  while (match(text, /\*\*[^*]*\*\*/)) text = bold(text, 2)
  return text
}
function bold(text, mark)
{
  return substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + mark, RLENGTH - 2 * mark) "\\fR" substr(text, RSTART + RLENGTH)
}
# A line of its own that is no request, whatever it begins with.
function line(text) { print (text ~ /^[.']/ ? "\\&" : "") text }

# The paragraph or item that is complete.
function flush(    colon)
{
  if (text == "") return
  if (!described) {
    described = 1
    print ".SH NAME\n" name ", " type " \\- " roff(substr(text, 1, match(text ",", /[,.:]/) - 1))
    print ".SH SYNOPSIS\n.B " roff(option " " type) "\n.PP\n.B #include <amgkit.h>\n.br"
    print ".BI \"" toupper(object) "SetType(\" " object " \", " name ");\""
    print ".SH DESCRIPTION"
    line(roff(text))
  } else if (text ~ /^- /) {
    colon = index(text, ": ")
    print ".TP"
    line(roff(substr(text, 3, colon - 3)))
    line(roff(substr(text, colon + 2)))
  } else {
    print ".PP"
    line(roff(text))
  }
  text = ""
}

NR == 1 {
  split($0, word, /[ (`)]+/) # "#", name, option, type
  name = word[2]; option = word[3]; type = word[4]
  object = substr(option, 2, index(option, "_") - 2) # pc, ksp
  print ".\\\" Made from " type ".md, do not edit"
  print ".TH " name " 3 \"\" \"AMGKit " version "\" \"AMGKit\"\n.nh\n.ad l"
  next
}
/^## / { flush(); print ".SH " toupper(roff(substr($0, 4))); next }
/^- / || /^$/ { flush() }
NF { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
END { flush() }
