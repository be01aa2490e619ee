import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandWords } from '../../cli/completion/command-words.ts'
import { completionScripts, type Shell } from '../../cli/completion/completion-scripts.ts'
import { createProgram } from '../../cli/program.ts'
import { recordTypes } from '../../contract/literals.ts'
import { recordsQuery } from '../../server/modules/records/records-schemas.ts'

const commands = commandWords(await createProgram())
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hub-completion-'))
  writeFileSync(join(folder, 'a file.json'), '')
  writeFileSync(join(folder, 'script.bash'), completionScripts.bash(commands))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The completions that bash itself offers for the last of the words. */
function complete(...words: string[]): string[] {
  const script = `source ./script.bash; COMP_WORDS=(hub "$@"); COMP_CWORD=$#; _hub; printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['-c', script, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
  return out.trim().split('\n')
}

/** Returns the output of a shell, or undefined if this machine has none. */
function runShell(shell: Shell, script: string): string | undefined {
  try {
    return execFileSync(shell, ['-c', script], { cwd: folder, encoding: 'utf8' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Words with the completions that every shell offers for the last one. */
const cases: [words: string[], expected: readonly string[]][] = [
  [['rec'], ['records']],
  [
    ['records', ''],
    ['query', 'get', 'write', 'verify', 'related'],
  ],
  [['records', 'query', '--record-type', ''], recordTypes],
  [['records', 'query', '--limit', '5', '--curs'], ['--cursor']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['--unknown', 'records', 'q'], ['query']],
  [['export', '--output', 'records', '--form'], ['--format']],
]

/** The completions that zsh offers: those that the function adds, as zsh itself would filter them. */
function inZsh(words: string[]): string[] | undefined {
  const current = words.at(-1) ?? ''
  const out = runShell(
    'zsh',
    `compdef() { :; }; _files() { :; }; compadd() { shift; print -rl -- "$@"; }
     source ./script.zsh; words=(hub ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=$#words; _hub`,
  )
  return out?.split('\n').filter((word) => word !== '' && word.startsWith(current))
}

/** The completions that fish offers; a description follows each. */
function inFish(words: string[]): string[] | undefined {
  const line = ['hub', ...words].join(' ')
  const out = runShell('fish', `source ./script.fish; complete -C '${line}'`)
  return out?.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0]!]))
}

test.each([
  ['zsh', inZsh],
  ['fish', inFish],
] as const)('%s completes as bash does, where it is installed', (shell, offered) => {
  writeFileSync(join(folder, `script.${shell}`), completionScripts[shell](commands))
  for (const [words, expected] of cases) {
    // Without the shell, that of bash says what it would offer.
    expect([words, (offered(words) ?? complete(...words)).sort()]).toEqual([words, [...expected].sort()])
  }
})

describe('bash', () => {
  test('completes commands, flags, fixed values and files', () => {
    expect(complete('rec')).toEqual(['records'])
    expect(complete('records', '')).toEqual(['query', 'get', 'write', 'verify', 'related'])
    expect(complete('records', 'query', '--record-type', '')).toEqual([...recordTypes])
    expect(complete('records', 'query', '--limit', '5', '--curs')).toEqual(['--cursor'])
    expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    expect(complete('records', 'write', 'a')).toContain('a file.json')
  })

  test('does not take the value of an option for a command', () => {
    expect(complete('--unknown', 'records', 'q')).toEqual(['query'])
    expect(complete('export', '--output', 'records', '--form')).toEqual(['--format'])
  })
})

test.each(Object.keys(completionScripts) as Shell[])('the script of %s has every command and flag', (shell) => {
  const script = completionScripts[shell](commands)
  for (const { path, options } of commands) {
    expect(script).toContain(`'${path}'`)
    for (const { word } of options) expect(script).toContain(shell === 'fish' ? `-l '${word.slice(2)}'` : word)
  }
})

test('every parameter of the query is a flag', () => {
  const query = commands.find(({ path }) => path === 'hub records query')
  const flags = query?.options.map(({ word }) => word)
  expect(flags).toEqual(
    expect.arrayContaining(Object.keys(recordsQuery.properties).map((name) => `--${name.replaceAll(/_+/g, '-')}`)),
  )
})
