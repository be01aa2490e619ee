import type { CommandWords } from './command-words.ts'

/**
 * Each script walks the words before the cursor to find the command: a word is part of it if it names a command there,
 * and the word after an option with a value is skipped.
 */
export const completionScripts = { bash, zsh, fish } as const

export type Shell = keyof typeof completionScripts

const quote = (text: string) => `'${text}'`
const list = (words: readonly string[]) => words.join(' ')

/** Returns the branches of a `case` that finds the command, for bash and zsh. */
function walk(commands: readonly CommandWords[]): string {
  const paths = commands.slice(1).map(({ path }) => quote(path))
  const valued = valuedOptions(commands).map(({ key }) => quote(key))
  return `    case "$command $word" in
      ${paths.join('|')}) command="$command $word" ;;
      ${valued.join('|')}) option=$word ;;
    esac`
}

function valuedOptions(commands: readonly CommandWords[]) {
  return commands.flatMap(({ path, options }) =>
    options.filter((each) => each.takesValue).map((option) => ({ key: `${path} ${option.word}`, ...option })),
  )
}

/** Returns the branches that set the words to offer: values of an option, or commands, choices and options. */
function words(commands: readonly CommandWords[]): string {
  const values = valuedOptions(commands)
    .filter(({ choices }) => choices.length > 0)
    .map(({ key, choices }) => `      ${quote(key)}) offered=${quote(list(choices))} ;;`)
  const ofCommands = commands.map(({ path, commands: inner, options, choices, takesFile }) => {
    const plain = list([...inner.map(({ word }) => word), ...choices])
    const flags = list(options.map(({ word }) => word))
    return `      ${quote(path)}) offered=${quote(plain)} flags=${quote(flags)}${takesFile ? ' files=1' : ''} ;;`
  })
  return `  if [[ -n $option ]]; then
    files=1
    case "$command $option" in
${values.map((line) => `${line.slice(0, -3)} files= ;;`).join('\n')}
    esac
  else
    case "$command" in
${ofCommands.join('\n')}
    esac
    if [[ $current == -* ]]; then offered=$flags files=; fi
  fi`
}

function bash(commands: readonly CommandWords[]): string {
  return `# Completion of hub for bash. Load it with: source <(hub completion bash)
_hub() {
  local current=\${COMP_WORDS[COMP_CWORD]} command=hub option= word i offered= flags= files=
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $option ]]; then option=; continue; fi
${walk(commands)}
  done
${words(commands)}
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    local file
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$current")
  fi
}
complete -F _hub hub
`
}

function zsh(commands: readonly CommandWords[]): string {
  return `#compdef hub
# Completion of hub for zsh. Load it with: source <(hub completion zsh)
_hub() {
  local current=\${words[CURRENT]} command=hub option= word i offered= flags= files=
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $option ]]; then option=; continue; fi
${walk(commands)}
  done
${words(commands)}
  local result=1
  [[ -n $offered ]] && compadd -- \${=offered} && result=0
  [[ -n $files ]] && _files && result=0
  return result
}
compdef _hub hub
`
}

function fish(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, commands: inner, options, choices, takesFile }) => {
    const at = `complete -c hub -n "__hub_at '${path}'"`
    return [
      ...inner.map(({ word, text }) => `${at} -a ${quote(word)} -d ${quote(text)}`),
      ...(choices.length > 0 ? [`${at} -a ${quote(list(choices))}`] : []),
      ...(takesFile ? [`${at} -F`] : []),
      ...options.map(({ word, text, takesValue, choices: values }) => {
        const value = !takesValue ? '' : values.length > 0 ? ` -x -a ${quote(list(values))}` : ' -r -F'
        return `${at} -l ${quote(word.slice(2))}${value} -d ${quote(text)}`
      }),
    ]
  })
  return `# Completion of hub for fish. Load it with: hub completion fish | source
function __hub_at
  set -l command hub
  set -l option
  for word in (commandline -opc)[2..-1]
    if test -n "$option"
      set option
      continue
    end
    switch "$command $word"
      case ${list(commands.slice(1).map(({ path }) => quote(path)))}
        set command "$command $word"
      case ${list(valuedOptions(commands).map(({ key }) => quote(key)))}
        set option $word
    end
  end
  test "$command" = "$argv[1]"
end
complete -c hub -f
${lines.join('\n')}
`
}
