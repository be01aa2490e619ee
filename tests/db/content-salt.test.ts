import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { contentMark, isSaltOfContent, markClearSalt, markContentSalt } from '../../server/db/content-salt.ts'

test('a salt of content tells its key and tenant, and leaves 96 bits as they were', () => {
  const random = randomBytes(16)
  const salt = Uint8Array.from(random)
  markContentSalt(salt, contentMark('acme', 'ck_1'))
  expect(isSaltOfContent(salt, 'acme', 'ck_1')).toBe(true)
  expect(isSaltOfContent(salt, 'acme', 'ck_2')).toBe(false)
  expect(isSaltOfContent(salt, 'globex', 'ck_1')).toBe(false)
  expect(salt.subarray(4)).toEqual(Uint8Array.from(random.subarray(4)))
})

test('no salt of a record in clear is one of content, not even that of a key that was looked for', () => {
  const salt = new Uint8Array(16)
  markContentSalt(salt, contentMark('acme', 'ck_1'))
  markClearSalt(salt)
  expect(isSaltOfContent(salt, 'acme', 'ck_1')).toBe(false)
  for (let key = 0; key < 1_000; key++) {
    markContentSalt(salt, contentMark('acme', `ck_${key}`))
    expect(salt[0]! & 0x80).toBe(0x80)
  }
})

test('bytes that are no salt are none of content', () => {
  for (const length of [0, 3]) expect(isSaltOfContent(new Uint8Array(length), 'acme', 'ck_1')).toBe(false)
})
