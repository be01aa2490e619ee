import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openCursor, signCursor } from '../../server/http/cursor.ts'

const key = randomBytes(32)
const binding = { tenant: 'acme', operation: 'listSkills', query: { state: 'draft', verify: true } }

test('a cursor opens for the query it was made for, in whatever order its parameters stand', () => {
  const cursor = signCursor(key, binding, ['a', 1])
  expect(openCursor(key, { ...binding, query: { verify: true, state: 'draft', limit: undefined } }, cursor)).toEqual([
    'a',
    1,
  ])
})

test('it opens for nothing else', () => {
  const cursor = signCursor(key, binding, 'a')
  const others = [
    { ...binding, tenant: 'globex' },
    { ...binding, operation: 'listArchetypes' },
    { ...binding, query: {} },
    { ...binding, query: { ...binding.query, state: 'published' } },
    { ...binding, query: { ...binding.query, verify: 'true' } },
    { ...binding, query: { ...binding.query, more: 1 } },
  ]
  for (const other of others) expect(() => openCursor(key, other, cursor)).toThrow('cursor')
  expect(() => openCursor(randomBytes(32), binding, cursor)).toThrow('cursor')
})

test('no changed text is taken: every bit counts, and so does the spelling', () => {
  const cursor = signCursor(key, binding, 'ab')
  const bytes = Buffer.from(cursor, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7))
    expect(() => openCursor(key, binding, changed.toString('base64url'))).toThrow('cursor')
  }
  for (const text of ['', 'x', `${cursor}=`, `${cursor} `, cursor.slice(0, -1), 'A'.repeat(50_000)]) {
    expect(() => openCursor(key, binding, text)).toThrow('cursor')
  }
})
