import { expect, test } from 'vitest'
import { describeError, exitCodeOf } from '../../cli/output.ts'
import { terminalJson, terminalLines, terminalText } from '../../cli/terminal-text.ts'
import { textTable } from '../../cli/text-table.ts'
import { HubConnectionError, HubError } from '../../sdk/typescript/src/index.ts'
import { StartupError } from '../../server/startup-error.ts'

const evil = 'a\u001b]0;title\u0007\u009b2J\u202eb\nc\u007f'

test('text of a server cannot control a terminal', () => {
  expect(terminalText(evil)).toBe('a\\u001b]0;title\\u0007\\u009b2J\\u202eb\\u000ac\\u007f')
  expect(terminalLines('a\n\tb\r')).toBe('a\n\tb\\u000d')
  expect(terminalText('👩‍💻 नमस्ते')).toBe('👩‍💻 नमस्ते')
})

test.each([0, 2])('JSON with indent %d has no unsafe character and the same value', (indent) => {
  const value = { [evil]: [evil, '\u{e0041}', '\ud800'] }
  const text = terminalJson(value, indent)
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(JSON.parse(text)).toEqual(value)
})

type Row = { n: number; text?: string }

test('a table aligns, escapes and is as wide as the terminal', () => {
  const columns = [
    { heading: 'N', value: ({ n }: Row) => n, isRight: true },
    { heading: 'TEXT', value: ({ text }: Row) => text },
  ]
  const rows: Row[] = [{ n: 5, text: '漢字 one' }, { n: 10, text: 'b\u001b[31m' }, { n: 100 }]
  expect(textTable(columns, rows)).toBe('  N  TEXT\n  5  漢字 one\n 10  b\\u001b[31m\n100')
  expect(textTable(columns, rows, 8).split('\n')).toEqual(['  N  TE…', '  5  漢…', ' 10  b\\…', '100'])
})

test('exit codes tell failures apart', () => {
  const codes = [400, 401, 403, 404, 409, 429, 500, 503].map((status) => exitCodeOf(new HubError(status, {})))
  expect(codes).toEqual([2, 3, 4, 5, 1, 6, 6, 6])
  expect(exitCodeOf(new HubConnectionError('away'))).toBe(6)
  expect(exitCodeOf(new Error('other'))).toBe(1)
})

test('no error lets text of a server control a terminal', () => {
  const errors = [new StartupError(evil, evil), new HubConnectionError(evil), new Error(evil)]
  for (const error of errors) expect(describeError(error)).toContain('a\\u001b]0;title\\u0007\\u009b2J')
})
