import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reportText } from '../../cli/verify/report-text.ts'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { decision, pathOf, recordsPath, write } from '../api/record-cases.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const time = fakeClock()
let hub: TestHub
let directory: string
let keys: string
let certificate: string
let ids: string[]

beforeAll(async () => {
  hub = await startHub({ time })
  directory = await mkdtemp(join(tmpdir(), 'hub-verify-'))
  const erased = await write(hub, 'acme', decision)
  await hub.call('acme', 'DELETE', pathOf(erased, '?reason=Request%2017'))
  time.step({ days: 31 })
  await hub.modules.hub.erasure.run(await hub.tenant('acme'))
  certificate = await answer(pathOf(erased, '/deletion-certificate'))
  ids = [await write(hub, 'acme', decision), await write(hub, 'acme', { ...decision, decision_id: '=1+1' })]
  keys = await save('keys.json', await answer('/.well-known/provenance-keys.json'))
})
afterAll(async () => {
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

async function answer(path: string): Promise<string> {
  const { status, text } = await hub.call('acme', 'GET', path)
  expect(status, text).toBe(200)
  return text
}

async function save(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

const verify = async (name: string, content: string | Uint8Array) =>
  (await verifyFile(await save(name, content), { keys })).report

test('one record, as it was answered, laid out anew, compressed, and changed', async () => {
  const record = await answer(pathOf(ids[1]!))
  const good = { verified: true, checked: 1, failed: 0 }
  expect(await verify('record.json', record)).toMatchObject(good)
  expect(await verify('record.json', await answer(pathOf(ids[1]!, '?verify=true')))).toMatchObject(good)
  expect(await verify('pretty', JSON.stringify(JSON.parse(record), null, 2))).toMatchObject(good)
  expect(await verify('record.json.gz', gzipSync(`${record}\n`))).toMatchObject(good)
  const changed = JSON.stringify(JSON.parse(record.replace('approved', 'rejected')), null, 2)
  expect(await verify('changed.json', changed)).toMatchObject({
    verified: false,
    failed: 1,
    failures: [{ line: 1, record_id: ids[1], reason: 'hash-mismatch: the record does not have the stored hash' }],
  })
  const twice = JSON.stringify(JSON.parse(record), null, 2).replace('{', '{"decision_outcome": "rejected",')
  expect((await verify('twice.json', twice)).failures).toEqual([
    { line: null, record_id: null, reason: 'record-malformed: the member "decision_outcome" occurs twice' },
  ])
})

test('a page of records, those related to one, the entries of the log, and a list of records', async () => {
  const page = await answer(`${recordsPath}?limit=1000&verify=true`)
  const { records } = JSON.parse(page) as { records: { record_id: string }[] }
  expect(records.length).toBeGreaterThan(3)
  expect(await verify('page.json', page)).toMatchObject({ verified: true, checked: records.length })
  expect(await verify('list.json', JSON.stringify(records))).toMatchObject({ verified: true, checked: records.length })
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  expect(await verify('records.jsonl', lines)).toMatchObject({ verified: true, checked: records.length })
  expect(await verify('related.json', await answer(pathOf(ids[0]!, '/related')))).toMatchObject({ verified: true })
  const entries = await verify('entries.json', await answer('/api/v1/hub/log/entries?limit=100'))
  expect(entries).toMatchObject({ verified: true, failed: 0 })
  // As many as on the page: the erased one has an entry, and no record.
  expect(entries.checked).toBe(records.length)
  const edited = page.replace(/(?<="record_id":")[^"]*(?=")/, ids[0]!)
  expect((await verify('page.json', edited)).failures).toMatchObject([{ line: 1, record_id: ids[0] }])
})

test('a deletion certificate', async () => {
  expect(await verify('certificate.json', certificate)).toMatchObject({ verified: true, checked: 1, failed: 0 })
  const report = await verify('certificate.json', certificate.replace('Request 17', 'Request 18'))
  expect(report).toMatchObject({ verified: false, checked: 1, failed: 1 })
  expect(report.failures[0]!.reason).toMatch(/^certificate: events_/)
})

test('people are told what a document is, and what was checked of it', async () => {
  const textOf = async (content: string) =>
    reportText(await verifyFile(await save('for-people.json', content), { keys })).replaceAll(directory, '')
  const { record_id: erased } = JSON.parse(certificate) as { record_id: string }
  const good = await textOf(certificate)
  expect(good).toMatch(/for-people.json: verified\n/)
  expect(good).toMatch(new RegExp(`^Deletion certificate of record ${erased} \\(decision\\), erased at 20`, 'm'))
  expect(good.match(/^ {2}good: /gm)).toHaveLength(6)
  expect(good).not.toMatch(/completeness|signature of a seal|1 record/)
  const bad = await textOf(certificate.replace('Request 17', 'Request 18'))
  expect(bad).toMatch(/NOT verified\nDeletion certificate of record [0-9a-f-]{36}\n/)
  expect(bad).toContain('FAILED: these events state this record and leaf')
  expect(await textOf(certificate.replace(erased, '\\u001b[2J'))).not.toContain('Deletion certificate of record')

  const one = await textOf(await answer(pathOf(ids[1]!)))
  expect(one).toContain(
    '  1 record, 0 failed: hash, place in the seal and cosignature of each\n  1 signature of a seal',
  )
  expect(one).not.toMatch(/completeness|other records/)
  const page = await textOf(await answer(`${recordsPath}?limit=1000`))
  expect(page).toMatch(/Trust basis: .*each record was checked by itself, and what other records there are is not part/)
  expect(page).not.toContain('completeness')
})

test('records that were cut free of their provenance cannot be checked', async () => {
  const { provenance_hash: _, provenance_cosign: __, ...record } = JSON.parse(await answer(pathOf(ids[0]!)))
  await expect(verify('plain.json', JSON.stringify(record))).rejects.toThrow('these rows carry no provenance')
})

test('anything else cannot be checked', async () => {
  for (const [content, message] of [
    ['', 'is empty'],
    ['some text', 'neither JSON, CSV nor Parquet'],
    ['{"keys":[]}', 'no record in this document'],
    ['{"records":[]}', 'no record in this document'],
    ['[1,2]', 'no record in this document'],
  ] as const) {
    await expect(verify('other', content)).rejects.toThrow(message)
  }
})
