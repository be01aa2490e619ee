import fc from 'fast-check'
import { expect, test } from 'vitest'
import { domainKey, emailKey, isEmail } from '../../contract/email-address.ts'

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
  'a@b.',
  'a@.b',
  'a@b..c',
  'a@-b.org',
  'a@b/c',
  'a@b.org/x',
  'a@b.org?x',
  'a@b.org#x',
  'a@%62.org',
  'a@b\uff05.org',
  'a@127.0.0.1',
  'a@1.2',
  `a@${'b'.repeat(64)}.org`,
  `${'a'.repeat(249)}@x.org`,
])('%j is none', (text) => expect(isEmail(text)).toBe(false))

test('addresses that differ in case or composition only are one, others are not', () => {
  expect(emailKey('Kim@ACME.example')).toBe('kim@acme.example')
  expect(emailKey('JOSE\u0301@x')).toBe(emailKey('jos\u00e9@X'))
  for (const other of ['kım@x', 'kím@x', 'kim@x.org', ' kim@x', 'k\uff49m@x']) {
    expect(emailKey(other)).not.toBe(emailKey('kim@x'))
  }
})

test.each([
  ['an ideographic full stop', 'kim@acme\u3002example'],
  ['a full stop of full width', 'kim@acme\uff0eexample'],
  ['a full stop of half width', 'kim@acme\uff61example'],
  ['letters of full width', 'kim@\uff21cme.example'],
  ['mathematical letters', 'kim@\u{1d41a}cme.example'],
  ['a sign that nobody sees', 'kim@acme\ufe0f.example'],
])('another spelling of a domain is the same one: %s', (_name, spelling) => {
  expect(isEmail(spelling)).toBe(true)
  expect(emailKey(spelling)).toBe('kim@acme.example')
})

test('a domain in other letters is the same as in ASCII', () => {
  expect(emailKey('kim@BÜCHER.example')).toBe('kim@xn--bcher-kva.example')
  expect(emailKey('kim@bu\u0308cher.example')).toBe('kim@xn--bcher-kva.example')
  expect(domainKey('bücher.example')).toBe('xn--bcher-kva.example')
})

test('what stands behind a domain, or is decoded to it, does not make another address the same', () => {
  for (const other of ['kim@acme.example/x', 'kim@acme.example?x', 'kim@%61cme.example', 'kim@acme.example.']) {
    expect(emailKey(other)).not.toBe(emailKey('kim@acme.example'))
    expect(domainKey(other.slice(4))).toBeUndefined()
  }
})

test('a key is its own key', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.domain(),
      fc.string({ unit: 'grapheme' }),
      (local, domain, more) => {
        for (const text of [`${local}@${domain}`, `${local}@${more}.${domain}`, `${local}@${more}`]) {
          expect(emailKey(emailKey(text))).toBe(emailKey(text))
        }
      },
    ),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(emailKey(emailKey(text))).toBe(emailKey(text))
    }),
  )
})
