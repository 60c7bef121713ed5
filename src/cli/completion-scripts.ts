/**
 * Holds the completion scripts. Each asks `anygpt mcp completion --words -- WORD ...` for what may come next: one
 * candidate a line, then a tab and a description. The line `:files`, a tab and a prefix asks for a path after that
 * prefix. Candidates are untrusted names, so no script evaluates them.
 * @module
 */

/** The shells that have a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const bash = `# Completion of anygpt and discovery for bash.
_anygpt() {
  local -a words=()
  local word joined='' last
  # Bash splits words at colons, equals signs and @, which names contain.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ \${#words[@]} -gt 0 && ( $word == [:=]* || $joined == *[:=] || $joined == @ ) && $joined != '' ]]; then
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
  [[ $current == @* && $COMP_WORDBREAKS == *@* ]] && cut=@
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then
      compopt -o filenames 2> /dev/null
      local before=\${line#*$'\\t'} path kept
      path=\${current#"$before"}
      kept=\${before#"$cut"}
      while IFS= read -r word; do
        [[ $path == '~/'* ]] && word="~\${word#"$HOME"}"
        COMPREPLY+=("$kept$word")
      done < <(compgen -f -- "\${path/#'~/'/$HOME/}")
      continue
    fi
    word=\${line%%$'\\t'*}
    word=\${word#"$cut"}
    case $quote in
      '') printf -v word '%q' "$word" ;;
      # Inside quotes bash inserts a name as it is, so only names that mean nothing to it are offered.
      *) [[ $word == *[!A-Za-z0-9._/:@%+,=-]* ]] && continue ;;
    esac
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
  local line word shown before= files=
  local program=\${(Q)words[1]}
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then
      files=1
      before=\${line#*$'\\t'}
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
  if [[ -n $files ]]; then
    [[ -n $before ]] && compset -P "\${(b)before}"
    _files
  fi
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
        if string match -q ':files*' -- $line
            set -l before (string split -m 1 \\t -- $line)[2]
            set -l path (string sub -s (math (string length -- "$before") + 1) -- "$current")
            for found in (__fish_complete_path "$path")
                printf '%s%s\\n' "$before" $found
            end
        else
            printf '%s\\n' $line
        end
    end
end
for program in anygpt discovery
    complete -c $program -f -a '(__anygpt_complete)'
end
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash, zsh, fish };
