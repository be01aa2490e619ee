import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emailKey, isEmail } from '../../contract/email-address.ts'

test.each([
  'a@b',
  'kim.lee+hub@acme.example',
  "o'hara@x.org",
  'jörg@müller.example',
  '用户@例子.广告',
  `${'a'.repeat(248)}@x.org`,
])('%s is an address', (text) => expect(isEmail(text)).toBe(true))

test.each([
  '',
  '@',
  'a@',
  '@b',
  'kim',
  'a@b@c',
  'a b@c',
  'a@b c',
  'a@b\n',
  '\na@b',
  'a@b\r\nBcc: c@d',
  'a\u0000@b',
  'a\u00a0@b',
  'a\u200b@b',
  'a\u202e@b',
  'a@b\ud800',
  'a@b,c',
  'a;b@c',
  '<a@b>',
  'a(b)@c',
  '"a"@b',
  'a\\@b',
  'mailto:a@b',
  `${'a'.repeat(249)}@x.org`,
])('%j is none', (text) => expect(isEmail(text)).toBe(false))

test('addresses that differ in case or composition only are one, others are not', () => {
  expect(emailKey('Kim@ACME.example')).toBe('kim@acme.example')
  expect(emailKey('JOSE\u0301@x')).toBe(emailKey('jos\u00e9@X'))
  for (const other of ['kım@x', 'kím@x', 'kim@x.org', ' kim@x', 'k\uff49m@x']) {
    expect(emailKey(other)).not.toBe(emailKey('kim@x'))
  }
})

test('a key is its own key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(emailKey(emailKey(text))).toBe(emailKey(text))
    }),
  )
})
