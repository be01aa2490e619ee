import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseSignature, problemOfAge } from '../../contract/webhook-signature.ts'
import { isSigned } from '../../server/modules/inbound/inbound-access.ts'
import { seededRandom } from '../support/fuzz/random.ts'
import { signatureOf } from './inbound-lab.ts'

const secret = 'whsec_7Kd2mQx9RtVb4LhZs8WcNp3F6gTyU1oPaSdEjHkWzQmB'
const former = 'whsec_aaaamQx9RtVb4LhZs8WcNp3F6gTyU1oPaSdEjHkWzQmB'
const nowMs = Date.parse('2026-01-05T09:30:00.400Z')
const t = Math.floor(nowMs / 1000)
const body = Buffer.from(
  '{"id":"a","kind":"user.updated","occurred_at":"2026-01-05T09:30:00Z","data":{"user_name":"ä"}}',
)
const header = signatureOf(body, secret, t)
const v1 = header.split(',')[1]!

const check = (changed: { header?: string | undefined; body?: Uint8Array; nowMs?: number; former?: string } = {}) =>
  isSigned(
    { header: 'header' in changed ? changed.header : header, body: changed.body ?? body },
    { current: secret, former: changed.former },
    changed.nowMs ?? nowMs,
  )

test('what was signed is taken, by the secret and by the one before while that is good', () => {
  expect(check()).toBe(true)
  const byFormer = { header: signatureOf(body, former, t) }
  expect([check(byFormer), check({ ...byFormer, former })]).toEqual([false, true])
  expect(isSigned({ header, body }, { current: undefined, former: undefined }, nowMs)).toBe(false)
  expect(
    isSigned({ header: signatureOf('', secret, t), body: Buffer.alloc(0) }, { current: secret, former }, nowMs),
  ).toBe(true)
})

test('every altered bit of the body is seen', () => {
  for (let at = 0; at < body.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const altered = Buffer.from(body)
      altered[at]! ^= 1 << bit
      expect(check({ body: altered }), `bit ${bit} of byte ${at}`).toBe(false)
    }
  }
})

test('every altered byte of the header is seen', () => {
  for (let at = 0; at < header.length; at += 1) {
    for (let code = 0x20; code < 0x7f; code += 1) {
      const altered = header.slice(0, at) + String.fromCharCode(code) + header.slice(at + 1)
      if (altered !== header) expect(check({ header: altered }), altered).toBe(false)
    }
    expect(check({ header: header.slice(0, at) + header.slice(at + 1) }), `without ${at}`).toBe(false)
    // A part of another scheme is left aside; nothing else that is put in is.
    for (const put of [' ', ',', '=', '0', 'a', 't', '\0']) {
      const altered = header.slice(0, at) + put + header.slice(at)
      expect(check({ header: altered }), JSON.stringify(altered)).toBe(false)
    }
  }
})

test('the same JSON in other bytes is not what was signed', () => {
  const text = body.toString()
  for (const other of [
    JSON.stringify(JSON.parse(text), null, 1),
    `${text}\n`,
    ` ${text}`,
    text.replace('ä', '\\u00e4'),
  ]) {
    expect(JSON.parse(other)).toEqual(JSON.parse(text))
    expect(check({ body: Buffer.from(other) })).toBe(false)
  }
  expect(check({ body: Buffer.from(text, 'latin1') })).toBe(false)
  expect(check({ body: Buffer.from(text, 'utf16le') })).toBe(false)
})

test('no random text is taken for a signature', () => {
  const random = seededRandom(7, 1)
  const letters = `tv10=,:; abcdef9${t}`
  for (let round = 0; round < 5000; round += 1) {
    const made = Array.from({ length: random.int(0, 90) }, () => letters[random.int(0, letters.length - 1)]).join('')
    expect(check({ header: made }), made).toBe(false)
    expect(check({ header: `t=${t},v1=${made}` }), made).toBe(false)
  }
})

test.each([
  ['none', undefined],
  ['empty', ''],
  ['no time', v1],
  ['no signature', `t=${t}`],
  ['the time twice', `t=${t},${header}`],
  ['another time besides', `${header},t=1`],
  ['a time that is no number', `t=now,${v1}`],
  ['a time with a sign', `t=+${t},${v1}`],
  ['a time with a fraction', `t=${t}.0,${v1}`],
  ['a time with leading zeros', `t=0${t},${v1}`],
  ['a time in hex', `t=0x${t.toString(16)},${v1}`],
  ['a long time', `t=${'1'.repeat(13)},${v1}`],
  ['a space', `t=${t}, ${v1}`],
  ['a space before it', ` ${header}`],
  ['two headers that were joined', `${header}, ${header}`],
  ['a comma at the end', `${header},`],
  ['a semicolon', header.replace(',', ';')],
  ['capitals', `t=${t},V1=${v1.slice(3)}`],
  ['capital digits', `t=${t},v1=${v1.slice(3).toUpperCase()}`],
  ['base64', `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('base64')}`],
  ['half a signature', header.slice(0, -32)],
  ['a signature and more', `${header}00`],
  ['quotes', `t="${t}",${v1}`],
  ['another scheme', header.replace('v1', 'v0')],
  ['a malformed one besides', `${header},v1=x`],
  ['five', `t=${t},${Array(5).fill(v1).join(',')}`],
  ['too long', `${header},v0=${'a'.repeat(1024)}`],
])('a header with %s is none', (_name, malformed) => {
  expect(check({ header: malformed })).toBe(false)
})

test('one of four signatures is enough, and other schemes stand beside it', () => {
  const wrong = `v1=${'0'.repeat(64)}`
  for (const parts of [
    [wrong, v1],
    [wrong, wrong, wrong, v1],
    [v1, `v0=${'a'.repeat(64)}`],
    ['v0=x', v1, 'k2=some+other/scheme=='],
  ]) {
    expect(check({ header: `t=${t},${parts.join(',')}` })).toBe(true)
    expect(check({ header: `${parts.join(',')},t=${t}` })).toBe(true)
  }
})

test('it is good for five minutes, and a minute ahead', () => {
  const at = (seconds: number) => check({ nowMs: (t + seconds) * 1000 })
  expect([at(300), at(300.001), at(301), at(-60), at(-60.001), at(-61)]).toEqual([
    true,
    false,
    false,
    true,
    false,
    false,
  ])
  expect(check({ header: signatureOf(body, secret, 0) })).toBe(false)
  expect(check({ header: signatureOf(body, secret, 999_999_999_999) })).toBe(false)
})

test('what is wrong is told in words, to those who ask the parser itself', () => {
  const problemOf = (text: string) => {
    const parsed = parseSignature(text)
    return 'problem' in parsed ? parsed.problem : problemOfAge(parsed, t)
  }
  expect(problemOf(header)).toBeUndefined()
  expect(problemOf('x')).toContain('<name>=<value>')
  expect(problemOf(`t=${t}`)).toContain('no `v1`')
  expect(problemOf(v1)).toContain('no `t`')
  expect(problemOf(`t=${t - 301},${v1}`)).toContain('older than 300 seconds')
  expect(problemOf(`t=${t + 61},${v1}`)).toContain('60 seconds ahead')
})
