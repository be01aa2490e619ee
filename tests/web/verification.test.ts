import { expect, test } from 'vitest'
import { canonicalize, formatRecordHash, type JsonObject, recordHash } from '../../provenance/index.ts'
import { cryptoOf, NoCrypto } from '../../web/verification/browser-crypto.ts'
import { checkpointSteps } from '../../web/verification/check-log.ts'
import { canonicalText } from '../../web/verification/record-steps.ts'
import type { Verification } from '../../web/verification/steps.ts'
import { readTrust } from '../../web/verification/trust-store.ts'
import { logKeys, verifyInBrowser } from '../../web/verification/verify-record.ts'
import { verifyRows } from '../../web/verification/verify-rows.ts'
import { sealedLog } from '../provenance/export-lab.ts'
import { firstKey, logKey } from '../provenance/fixtures.ts'
import { sha256 } from '../provenance/node-crypto.ts'
import { browserOf, introduced, type SmallHub, smallHub, storeOf } from './verification-lab.ts'

const idOf = (record: JsonObject) => String(record.record_id)
const failed = ({ steps }: Verification) => steps.filter(({ state }) => state === 'failed').map(({ name }) => name)
const found = ({ steps }: Verification, step: string) => steps.find(({ name }) => name === step)!.found
const later = logKey(firstKey.name, 'later')
const strange = logKey(firstKey.name, 'strange')
const otherLog = logKey('orghub/log/of-another-tenant', 'other')

/** The record's hash, as whoever edits it would write it. */
function hashed(record: JsonObject): JsonObject {
  return { ...record, provenance_hash: formatRecordHash(recordHash(canonicalText(record)!, sha256)) }
}

test('a genuine record passes every step, at the first use and later', async () => {
  const hub = smallHub({ size: 3 })
  const browser = await browserOf(hub)
  const record = hub.record(1)
  const first = await verifyInBrowser(browser, record, idOf(record))
  expect(first).toMatchObject({ verdict: 'verified' })
  expect(first.steps.map(({ name, state }) => `${name} ${state}`)).toEqual(
    ['record', 'hash', 'leaf', 'path', 'keys', 'signature', 'log', 'history'].map((name) => `${name} passed`),
  )
  expect(found(first, 'keys')).toContain('for the first time')
  expect(found(first, 'history')).toContain('first state')
  hub.size = 5
  const second = await verifyInBrowser(browser, record, idOf(record))
  expect(second.verdict).toBe('verified')
  expect(found(second, 'history')).toContain('goes on from the 3 entries')
  expect(readTrust(browser.store, 'acme')?.checkpoint?.treeSize).toBe(5)
})

test.each<[string, (record: JsonObject) => JsonObject, string[]]>([
  ['content', (record) => ({ ...record, title: 'Another title' }), ['hash']],
  ['a member more', (record) => ({ ...record, approved: true }), ['hash']],
  ['content and hash', (record) => hashed({ ...record, title: 'Another title' }), ['signature', 'log']],
  ['the hash', (record) => ({ ...record, provenance_hash: `sha256:${'0'.repeat(64)}` }), ['hash', 'signature', 'log']],
  ['no hash', ({ provenance_hash: _, ...record }) => record, ['hash', 'leaf']],
  ['no cosignature', ({ provenance_cosign: _, ...record }) => record, ['leaf']],
  ['a cosignature that is none', (record) => ({ ...record, provenance_cosign: 'omhc1.AAAA' }), ['leaf']],
  ['the version', (record) => hashed({ ...record, schema_version: '9.0' }), ['record', 'signature', 'log']],
  ['the tenant', (record) => ({ ...record, tenant_id: 'globex' }), ['record', 'hash']],
  ['what has no canonical text', (record) => ({ ...record, title: '\ud800' }), ['record', 'hash']],
])('an edited record is found out: %s', async (_, edit, steps) => {
  const hub = smallHub()
  const record = hub.record(2, 3)
  const result = await verifyInBrowser(await browserOf(hub), edit(record), idOf(record))
  expect(result.verdict).toBe('tampered')
  expect(failed(result)).toEqual(steps)
})

test('another genuine record in its place is found out', async () => {
  const hub = smallHub()
  const [asked, answered] = [hub.record(0), hub.record(2)]
  expect(failed(await verifyInBrowser(await browserOf(hub), answered, idOf(asked)))).toEqual(['record', 'log'])
})

test('a record that another tenant’s key sealed is found out', async () => {
  const foreign = smallHub({ key: otherLog })
  const hub = smallHub({ keys: [firstKey, otherLog] })
  const record = foreign.record(0)
  const result = await verifyInBrowser(await browserOf(hub), record, idOf(record))
  expect(failed(result)).toContain('signature')
  expect(found(result, 'signature')).toContain('of another log')
})

test('a key that a known one introduces is trusted, and kept; one that nobody introduces is not', async () => {
  const store = storeOf()
  const known = smallHub()
  await logKeys(await browserOf(known, store))

  const rotated = smallHub({
    keys: [firstKey, introduced(later, firstKey)],
    log: [...known.log, ...sealedLog([1], later, 'later')],
    signer: later,
  })
  const byLater = rotated.record(5)
  const good = await verifyInBrowser(await browserOf(rotated, store), byLater, idOf(byLater))
  expect([failed(good), good.verdict]).toEqual([[], 'verified'])
  expect(readTrust(store, 'acme')?.keys.map(({ key_id }) => key_id)).toEqual([firstKey.keyId, later.keyId])

  for (const key of [strange, introduced(strange, otherLog)]) {
    const forged = smallHub({ keys: [firstKey, key], log: sealedLog([1], key), signer: firstKey })
    const record = forged.record(0)
    const bad = await verifyInBrowser(await browserOf(forged, storeOf()), record, idOf(record))
    expect(bad.verdict).toBe('tampered')
    expect(failed(bad)).toContain('keys')
    expect(failed(bad)).toContain('signature')
  }
})

test('keys that take the place of the known ones are found out, though all else agrees with them', async () => {
  const store = storeOf()
  await logKeys(await browserOf(smallHub(), store))
  const forged = smallHub({ key: strange, log: sealedLog([2, 1], strange) })
  const record = forged.record(0)
  expect((await verifyInBrowser(await browserOf(forged), record, idOf(record))).verdict).toBe('verified')
  const result = await verifyInBrowser(await browserOf(forged, store), record, idOf(record))
  expect(failed(result)).toEqual(['keys', 'signature', 'log'])
  expect(found(result, 'keys')).toContain('is not published any more')
  const elsewhere = smallHub({ key: otherLog })
  const renamed = await verifyInBrowser(
    await browserOf(elsewhere, store),
    elsewhere.record(0),
    idOf(elsewhere.record(0)),
  )
  expect(found(renamed, 'keys')).toContain('this browser knows the log of acme as')
})

test('a history that was rewritten is found out, and never kept', async () => {
  const store = storeOf()
  const hub = smallHub({ size: 4 })
  const record = hub.record(0)
  await verifyInBrowser(await browserOf(hub, store), record, idOf(record))
  const [start] = sealedLog([3])
  const fork = (sizes: readonly number[]) => smallHub({ log: [start!, ...sealedLog(sizes, firstKey, 'fork')] })
  for (const [what, other] of [
    ['does not go on', fork([1, 1, 1, 1])],
    ['does not go on', fork([1, 1, 1])],
    ['Entries are never taken out', smallHub({ size: 2 })],
    ['does not go on', { ...smallHub(), consistency: async () => undefined }],
  ] as const) {
    other.record(0)
    const result = await verifyInBrowser(await browserOf(other, store), record, idOf(record))
    expect(failed(result)).toEqual(['history'])
    expect(found(result, 'history')).toContain(what)
    expect(readTrust(store, 'acme')?.checkpoint?.treeSize).toBe(4)
  }
})

test('an answer that a later state has overtaken meanwhile is not taken for a rewritten history', async () => {
  const store = storeOf()
  const grown = smallHub()
  const record = grown.record(0)
  await verifyInBrowser(await browserOf(grown, store), record, idOf(record))
  const before = smallHub({ size: 2 })
  before.record(0)
  const slow = { ...grown, proof: before.proof }
  expect((await verifyInBrowser(await browserOf(slow, store), record, idOf(record))).verdict).toBe('verified')
})

test('what is not in the log yet is not verified, and not condemned either until it should have been there', async () => {
  const hub = smallHub({ size: 2 })
  const record = hub.record(3)
  const old = await verifyInBrowser(await browserOf(hub), record, idOf(record))
  expect(failed(old)).toEqual(['log'])
  const fresh = smallHub({ size: 0, log: sealedLog([1]) })
  const mute = { ...fresh, proof: () => Promise.reject(new Error('no answer')) }
  const unproven = await verifyInBrowser(await browserOf(mute), fresh.record(0), idOf(fresh.record(0)))
  expect(unproven.verdict).toBe('unproven')
  expect(failed(unproven)).toEqual([])
})

test('a state of the log that is signed by nobody known is found out', async () => {
  const hub = smallHub({ signer: strange })
  const record = hub.record(0)
  expect(failed(await verifyInBrowser(await browserOf(hub), record, idOf(record)))).toEqual(['log'])
  expect(failed(await checkpointSteps(await browserOf(hub)))).toEqual(['checkpoint'])
  expect((await checkpointSteps(await browserOf(smallHub()))).verdict).toBe('verified')
})

test('without keys the hash is checked all the same', async () => {
  const hub = smallHub()
  const mute = { ...hub, keyDocument: () => Promise.reject(new Error('no answer')) }
  const record = hub.record(0)
  expect((await verifyInBrowser(await browserOf(mute), record, idOf(record))).verdict).toBe('unproven')
  expect(failed(await verifyInBrowser(await browserOf(mute), { ...record, title: 'x' }, idOf(record)))).toEqual([
    'hash',
  ])
})

test('rows are verified in pieces, each against what it was filtered for', async () => {
  const hub = smallHub({ log: sealedLog([64, 10]) })
  const rows = [0, 1].flatMap((entry) => hub.log[entry]!.texts.map((_, leaf) => hub.record(entry, leaf)))
  rows[5] = { ...rows[5], title: 'edited' }
  rows[6] = { ...rows[6], title: canonicalize('stray'), tenant_id: 'globex' }
  const browser = await browserOf(hub)
  const seen: number[] = []
  const verdicts = await verifyRows(rows, {
    ...{ tenant: 'acme', keys: await logKeys(browser), crypto: browser.crypto, signal: new AbortController().signal },
    fits: ({ record_id }) => record_id !== rows[9]!.record_id,
    onProgress: (now) => seen.push(now.size),
  })
  const bad = rows.filter((row) => !verdicts.get(row)?.verified)
  expect(bad).toEqual([rows[5], rows[6], rows[9]])
  expect(seen.at(-1)).toBe(74)
  expect(verdicts.size).toBe(74)
})

test('of two rows with one id neither is genuine, whichever the Hub answers first', async () => {
  const hub = smallHub()
  const [record, other] = [hub.record(0), hub.record(1)]
  const browser = await browserOf(hub)
  const keys = await logKeys(browser)
  for (const rows of [
    [{ ...record, title: 'forged' }, record, other],
    [record, other, { ...record, title: 'forged' }],
  ]) {
    const more = { fits: () => true, onProgress: () => {}, signal: new AbortController().signal }
    const verdicts = await verifyRows(rows, { tenant: 'acme', keys, crypto: browser.crypto, ...more })
    expect(rows.filter((row) => verdicts.get(row)?.verified)).toEqual([other])
  }
})

test('what a record has from a prototype was never sealed', async () => {
  const hub = smallHub()
  const record = hub.record(0)
  const forged: JsonObject = Object.setPrototypeOf({ ...record }, { cost_usd_estimate: 666 })
  const browser = await browserOf(hub)
  expect(failed(await verifyInBrowser(browser, forged, idOf(record)))).toEqual(['record'])
  const more = { fits: () => true, onProgress: () => {}, signal: new AbortController().signal }
  const keys = await logKeys(browser)
  const verdicts = await verifyRows([forged], { tenant: 'acme', keys, crypto: browser.crypto, ...more })
  expect(verdicts.get(forged)?.verified).toBe(false)
})

test.each<[string, (hub: SmallHub) => Partial<SmallHub>, string[]]>([
  ['no proof', () => ({ proof: async () => ({ proof: null as never }) }), ['hash', 'log']],
  ['a state that is a number', (hub) => ({ proof: async (id) => withState(await hub.proof(id), 5) }), ['hash', 'log']],
  ['keys that are none', () => ({ keyDocument: async () => ({ keys: [null] }) }), ['hash', 'keys', 'signature', 'log']],
  ['no name of the log', () => ({ logName: () => Promise.reject(new TypeError('null')) }), ['hash']],
])('answers without form keep nothing from turning red: %s', async (_, change, steps) => {
  const hub = smallHub()
  const record = hub.record(0)
  const browser = await browserOf({ ...hub, ...change(hub) })
  const result = await verifyInBrowser(browser, { ...record, title: 'forged' }, idOf(record))
  expect(result.verdict).toBe('tampered')
  expect(failed(result)).toEqual(steps)
})

test('what the record gives away by itself is told though the Hub never answers with a proof', async () => {
  const hub = smallHub()
  const record = hub.record(0)
  const mute = await browserOf({ ...hub, proof: () => new Promise(() => {}) })
  const told = await new Promise<Verification>((resolve) => {
    void verifyInBrowser(mute, { ...record, title: 'forged' }, idOf(record), resolve)
  })
  expect(failed(told)).toEqual(['hash'])
})

test('a path between states that is none proves nothing', async () => {
  const store = storeOf()
  const hub = smallHub({ size: 3 })
  const record = hub.record(0)
  await verifyInBrowser(await browserOf(hub, store), record, idOf(record))
  hub.size = 5
  const lying = { ...hub, consistency: async () => 7 as unknown as string[] }
  expect(failed(await verifyInBrowser(await browserOf(lying, store), record, idOf(record)))).toEqual(['history'])
})

function withState(answer: Awaited<ReturnType<SmallHub['proof']>>, checkpoint: unknown): typeof answer {
  return 'proof' in answer ? { proof: { ...answer.proof, checkpoint: checkpoint as string } } : answer
}

test('a browser without Ed25519 has it from a library, and one without cryptography says so', async () => {
  const { subtle } = globalThis.crypto
  const poor = {
    digest: subtle.digest.bind(subtle),
    importKey: () => Promise.reject(new DOMException('no such algorithm', 'NotSupportedError')),
  } as unknown as SubtleCrypto
  const crypto = await cryptoOf(poor)
  expect(crypto.signaturesBy).toBe('library')
  const hub = smallHub()
  const record = hub.record(0)
  const browser = { ...(await browserOf(hub)), crypto }
  expect((await verifyInBrowser(browser, record, idOf(record))).verdict).toBe('verified')
  expect(failed(await verifyInBrowser(browser, hashed({ ...record, title: 'x' }), idOf(record)))).toContain('signature')
  await expect(cryptoOf(undefined)).rejects.toThrow(NoCrypto)
})

test('a record whose content is gone with its key is unproven, and the rest of it is still verified', async () => {
  const hub = smallHub()
  const { title: _, content: __, ...rest } = hub.record(2, 3)
  const record = { ...rest, content: 'unavailable', content_key_id: `ck_${'0'.repeat(24)}` }
  const browser = await browserOf(hub)
  const result = await verifyInBrowser(browser, record, idOf(record))
  expect(result.verdict).toBe('unproven')
  expect(result.steps.filter(({ state }) => state !== 'passed').map(({ name }) => name)).toEqual(['hash'])
  expect(found(result, 'hash')).toContain('The content is gone')
  const forged = { ...record, provenance_hash: `sha256:${'0'.repeat(64)}` }
  expect((await verifyInBrowser(browser, forged, idOf(record))).verdict).toBe('tampered')
  const options = { tenant: 'acme', keys: await logKeys(browser), crypto: browser.crypto }
  const rows = [record, { ...forged, record_id: idOf(hub.record(3)) }, hub.record(1)]
  const verdicts = await verifyRows(rows, {
    ...options,
    fits: () => true,
    onProgress: () => {},
    signal: new AbortController().signal,
  })
  expect(rows.map((row) => verdicts.get(row))).toMatchObject([
    { verified: false, isGone: true },
    { verified: false, isGone: false },
    { verified: true },
  ])
})
