# A manual page in roff from one of share/amgkit/doc/*.md:
#   awk -f manual_page.awk -v version=X.Y.Z amgmatching.md
# Its first line is "# NAME (`OPTION TYPE`)". Then come
#   paragraphs, the first of which begins with the summary, up to its first comma, full stop or colon,
#   headings "## Section",
#   items "- **tag**: text" and "- `-option`: text", and plain ones "- text"; their further lines may be indented,
#   commands between two lines ```, and tables whose columns are aligned in the source: both are shown as they are.
# Inline, `code` and **strong** become bold, and of a link [text](file) the text remains.

# Text as roff takes it literally.
function literal(text)
{
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/\^/, "\\(ha", text)
  gsub(/~/, "\\(ti", text)
  return text
}
# The same with the inline marks.
function roff(text)
{
  text = literal(text)
  while (match(text, /\[[^][]*\]\([^()]*\)/)) text = unlinked(text)
  while (match(text, /`[^`]*`/)) text = bold(text, 1)
  while (match(text, /\*\*[^*]*\*\*/)) text = bold(text, 2)
  return text
}
function bold(text, mark)
{
  return substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + mark, RLENGTH - 2 * mark) "\\fR" substr(text, RSTART + RLENGTH)
}
function unlinked(text,    link)
{
  link = substr(text, RSTART + 1, RLENGTH - 1)
  return substr(text, 1, RSTART - 1) substr(link, 1, index(link, "](") - 1) substr(text, RSTART + RLENGTH)
}
function sentence(text) { return toupper(substr(text, 1, 1)) substr(text, 2) }
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
  } else if (text ~ /^- (\*\*[^*]*\*\*|`[^`]*`): /) {
    colon = index(text, ": ")
    print ".TP"
    line(roff(substr(text, 3, colon - 3)))
    text = substr(text, 1, 3) == "- *" ? sentence(substr(text, colon + 2)) : substr(text, colon + 2)
    line(roff(text))
  } else if (text ~ /^- /) {
    print ".IP \\(bu 2"
    line(roff(substr(text, 3)))
  } else {
    print ".PP"
    line(roff(text))
  }
  text = ""
}
# Begins or ends lines that are shown as they are.
function as_is(begin)
{
  if (begin == shown) return
  flush()
  print begin ? ".PP\n.RS\n.nf" : ".fi\n.RE"
  shown = begin
}
# A line of a table, without its bars.
function cells(text)
{
  gsub(/^\| *| *\|$/, "", text)
  gsub(/ \| /, "   ", text)
  return text
}

NR == 1 {
  split($0, word, /[ (`)]+/) # "#", name, option, type
  name = word[2]; option = word[3]; type = word[4]
  object = substr(option, 2, index(option, "_") - 2) # pc, ksp
  print ".\\\" Made from " type ".md, do not edit"
  print ".TH " name " 3 \"\" \"AMGKit " version "\" \"AMGKit\"\n.nh\n.ad l"
  next
}
/^```/ { fenced = !fenced; as_is(fenced); next }
fenced { line(literal($0)); next }
/^\|/ { as_is(1); if ($0 !~ /^[-:| ]*$/) line(roff(cells($0))); next }
{ as_is(0) }
/^## / { flush(); print ".SH " toupper(roff(substr($0, 4))); next }
/^- / || /^$/ { flush() }
NF { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
END { flush() }
