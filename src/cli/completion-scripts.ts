/**
 * The completion scripts. Each asks `anygpt mcp completion --words -- WORD ...` for what may come next, one candidate a
 * line, a tab and a description behind it; the line `:files` asks for names of files. Candidates are names from outside,
 * so no script evaluates them.
 * @module
 */

/** The shells there are scripts for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const bash = `# Completion of anygpt and discovery for bash.
_anygpt() {
  local -a words=()
  local word joined='' last
  # Bash breaks words at colons and equals signs; names have some.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ \${#words[@]} -gt 0 && ( $word == [:=]* || $joined == *[:=] ) && $joined != '' ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    joined=\${words[\${#words[@]}-1]}
  done
  last=$(( \${#words[@]} - 1 ))
  local quote=''
  case \${words[last]} in \\'* | \\"*) quote=\${words[last]:0:1} ;; esac
  local -a plain=()
  for word in "\${words[@]}"; do
    word=\${word//\\\\/}
    case $word in \\'* | \\"*) word=\${word:1}; word=\${word%[\\'\\"]} ;; esac
    plain+=("$word")
  done
  local current=\${plain[last]} cut=''
  [[ $current == *[:=]* && -z $quote ]] && cut=\${current%"\${current##*[:=]}"}
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2> /dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "\${current#"$cut"}")
      continue
    fi
    word=\${line%%$'\\t'*}
    word=\${word#"$cut"}
    [[ -z $quote ]] && printf -v word '%q' "$word"
    [[ $word == *= ]] && compopt -o nospace 2> /dev/null
    COMPREPLY+=("$word")
  done < <("$1" mcp completion --words -- "\${plain[@]}" 2> /dev/null < /dev/null)
}
complete -F _anygpt anygpt discovery
`;

const zsh = `#compdef anygpt discovery
# Completion of anygpt and discovery for zsh.
_anygpt() {
  local -a names about keys meanings
  local line word shown files=
  local program=\${(Q)words[1]}
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=1
      continue
    fi
    word=\${line%%$'\\t'*}
    shown=$word
    [[ $line == *$'\\t'* ]] && shown="$word  -- \${line#*$'\\t'}"
    if [[ $word == *= ]]; then
      keys+=("$word")
      meanings+=("$shown")
    else
      names+=("$word")
      about+=("$shown")
    fi
  done < <("\${program/#\\~/$HOME}" mcp completion --words -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null < /dev/null)
  (( \${#names} )) && compadd -l -d about -a names
  (( \${#keys} )) && compadd -S '' -l -d meanings -a keys
  [[ -n $files ]] && _files
  return 0
}
if [[ $funcstack[1] == _anygpt ]]; then
  _anygpt "$@"
else
  compdef _anygpt anygpt discovery
fi
`;

const fish = `# Completion of anygpt and discovery for fish.
function __anygpt_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct | string unescape)
    set -l lines ($program mcp completion --words -- $words "$current" 2> /dev/null < /dev/null)
    for line in $lines
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            printf '%s\\n' $line
        end
    end
end
for program in anygpt discovery
    complete -c $program -f -a '(__anygpt_complete)'
end
`;

/** What to load into each shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash, zsh, fish };
