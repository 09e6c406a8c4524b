#!/bin/sh
# The rules on which folder knows which, on file names, headers and output that no compiler checks:
#   sh tests/test_layers.sh SOURCE_ROOT
# One line for each violation; exit status 1 if there is one.
set -u
root=${1:?usage: test_layers.sh SOURCE_ROOT}
cd "$root" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# folder | headers of these folders may be included | system headers that may not (a pattern)
cuda='cuda|cub/|thrust/|cooperative_groups|nv[a-z]*\.h|curand|cublas|cusparse|cusolver'
cat >"$tmp/table" <<END
core|core|$cuda|libconfig
filters|filters core|$cuda|libconfig
gpu|gpu core|libconfig
app|app core|$cuda
examples|examples core|$cuda
tests|tests core|$cuda
END

find app core examples filters gpu tests -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort >"$tmp/files"
if ! grep -q '^core/' "$tmp/files"; then
    echo "$root: no source files; is this the root of the source?"
    exit 1
fi

# 1. File names are unique, so that a name in a message or an include says which file.
sed 's#.*/##' "$tmp/files" | sort | uniq -d | while read -r name; do
    echo "$(grep "/$name\$" "$tmp/files" | tr '\n' ' '): the same file name twice"
done >>"$tmp/violations"

# 2. Includes. A header found nowhere in the tree is a generated one.
while IFS= read -r file; do
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\([<"][^>"]*\)[>"].*/\1/p' "$file" |
        sed "s#^#$file #"
done <"$tmp/files" >"$tmp/includes"
awk -v table="$tmp/table" -v files="$tmp/files" '
    BEGIN {
        while ((getline line < table) > 0) {
            split(line, part, "|")
            n = length(part[1]) + length(part[2]) + 3
            may[part[1]] = " " part[2] " "
            never[part[1]] = "^(" substr(line, n) ")"
        }
        while ((getline line < files) > 0) {
            name = line; sub(/.*\//, "", name)
            folder = line; sub(/\/.*/, "", folder)
            home[name] = folder
        }
    }
    {
        from = $1; sub(/\/.*/, "", from)
        header = substr($2, 2)
        name = header; sub(/.*\//, "", name)
        if (substr($2, 1, 1) == "\"" && name in home) {
            if (index(may[from], " " home[name] " ") == 0)
                print $1 ": includes " home[name] "/" name "; " from "/ may include only:" may[from]
        } else if (header ~ never[from]) {
            print $1 ": includes <" header ">, which " from "/ must not know"
        }
    }' "$tmp/includes" >>"$tmp/violations"

# 3. Below app/ nothing prints or ends the program. Comments and strings do not count.
grep -E '^(core|filters|gpu)/' "$tmp/files" | while IFS= read -r file; do
    awk -v file="$file" '
        {
            line = $0; code = ""
            while (line != "") {
                if (in_comment) {
                    end = index(line, "*/")
                    if (!end) break
                    line = substr(line, end + 2); in_comment = 0
                } else if (match(line, /"([^"\\]|\\.)*"|\/\*|\/\//)) {
                    code = code substr(line, 1, RSTART - 1) " "
                    mark = substr(line, RSTART, 2)
                    line = substr(line, RSTART + RLENGTH)
                    if (mark == "//") line = ""
                    if (mark == "/*") in_comment = 1
                } else {
                    code = code line; line = ""
                }
            }
            if (match(code, /(^|[^A-Za-z0-9_])(v?printf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort) *\(/) ||
                match(code, /(^|[^A-Za-z0-9_])(stdout|stderr|cout|cerr)([^A-Za-z0-9_]|$)/)) {
                word = substr(code, RSTART, RLENGTH); gsub(/[^A-Za-z_]/, "", word)
                print file ":" NR ": " word ": nothing prints or exits below app/"
            }
        }' "$file"
done >>"$tmp/violations"

# 4. Every header of core/ compiles alone, as C and, for the CUDA files, as C++.
check_header() { # header, language, command
    printf '#include "%s"\ntypedef int alone;\n' "$1" >"$tmp/alone"
    # shellcheck disable=SC2086
    $3 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -pedantic -Werror -I. -x "$2" -fsyntax-only \
        "$tmp/alone" >"$tmp/output" 2>&1 && return
    echo "$1: does not compile alone as $2: $(grep -m 1 -E 'error|warning' "$tmp/output")"
}
c_compiler="${CC:-cc} -std=c11"
cxx_compiler="${CXX:-c++} -std=c++17"
${CXX:-c++} --version >/dev/null 2>&1 || cxx_compiler=
grep -E '^core/.*\.h$' "$tmp/files" | while IFS= read -r header; do
    check_header "$header" c "$c_compiler"
    [ -z "$cxx_compiler" ] || check_header "$header" c++ "$cxx_compiler"
done >>"$tmp/violations"

cat "$tmp/violations"
n_violation=$(wc -l <"$tmp/violations")
echo "$(wc -l <"$tmp/files") files, $((n_violation)) violations"
[ "$n_violation" -eq 0 ]
