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
