import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reportText } from '../../cli/verify/report-text.ts'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { keyDocumentEntry } from '../../provenance/index.ts'
import { successionNote } from '../../provenance/key-succession.ts'
import { type CliResult, runCli } from '../cli/run-cli.ts'
import { type MadeExport, makeExport, sealedLog } from '../provenance/export-lab.ts'
import { firstKey, secondKey, strangeKey } from '../provenance/fixtures.ts'
import { sha256 } from '../provenance/node-crypto.ts'

let directory: string
const made = makeExport(sealedLog([3, 1, 64, 2]))
const keyDocument = JSON.stringify(made.manifest.keys)

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-verify-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function write(name: string, content: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

async function writeExport(name: string, { file, manifest }: MadeExport, content = file): Promise<string> {
  await write(`${name}.manifest.json`, JSON.stringify(manifest))
  return write(name, content)
}

/** A machine that has nothing but the program, and whose settings are of no use. */
const nowhere = {
  HUB_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  HUB_MASTER_KEY: 'none',
  HUB_DATA_DIR: '/nonexistent',
}

function oneObject({ stdout, stderr }: CliResult): Record<string, unknown> {
  expect([stdout.split('\n').length, stderr]).toEqual([2, ''])
  return JSON.parse(stdout)
}

describe('as a command', () => {
  test('0: all is good, in one JSON object, without configuration, database or network', async () => {
    const path = await writeExport('good.jsonl', made)
    const result = await runCli(['verify', path, '--json'], nowhere)
    expect(result.code).toBe(0)
    expect(oneObject(result)).toEqual({
      verified: true,
      checked: 70,
      failed: 0,
      missing: 0,
      trust: expect.stringContaining('trust on first use'),
      failures: [],
    })
    expect((await readdir(directory)).sort()).toEqual(['good.jsonl', 'good.jsonl.manifest.json'])
  })

  test('1: something failed, each with its line and reason', async () => {
    const path = await writeExport('bad.jsonl', made, made.file.replace('No. 7 ', 'No. 8 '))
    const json = await runCli(['verify', path, '--json'], nowhere)
    expect(json.code).toBe(1)
    expect(oneObject(json)).toMatchObject({
      verified: false,
      checked: 70,
      failed: 1,
      missing: 0,
      failures: [
        {
          line: 8,
          record_id: (JSON.parse(made.rows[7]!) as { record_id: string }).record_id,
          reason: 'hash-mismatch: the record does not have the stored hash',
        },
        { line: null, record_id: null, reason: expect.stringMatching(/^file-hash: /) },
      ],
    })
    const text = await runCli(['verify', path], nowhere)
    expect([text.code, text.stderr]).toEqual([1, ''])
    expect(text.stdout).toContain('NOT verified')
    expect(text.stdout).toContain('trust on first use')
    expect(text.stdout).toMatch(/line 8 record [0-9a-f-]{36}: hash-mismatch/)
  })

  test.each([
    ['a file that is not there', ['missing.jsonl'], 'the file does not exist'],
    ['no file', [], 'missing required argument'],
    ['an option that it does not have', ['alone.jsonl', '--trust-me'], 'unknown option'],
    ['a manifest that is none', ['alone.jsonl', '--manifest', 'alone.jsonl'], 'cannot be used: '],
    ['no manifest and no keys', ['alone.jsonl'], 'alone.jsonl.manifest.json'],
    ['a manifest that is not there', ['alone.jsonl', '--manifest', 'none.json'], 'none.json cannot be read'],
    ['keys that are none', ['alone.jsonl', '--keys', 'alone.jsonl'], 'no keys'],
  ])('2: nothing can be said of %s', async (_, [file, ...options], message) => {
    await write('alone.jsonl', made.file)
    const args = [
      ...(file === undefined ? [] : [join(directory, file)]),
      ...options.map((each) => (each.startsWith('--') ? each : join(directory, each))),
    ]
    const result = await runCli(['verify', ...args, '--json'], nowhere)
    expect([result.code, result.stdout]).toEqual([2, ''])
    expect(result.stderr).toContain(message)
  })
})

test('2 also where the rows are good and the manifest cannot be read: what is known is told', async () => {
  const path = await write('unread.jsonl', made.file)
  await write('unread.jsonl.manifest.json', JSON.stringify(made.manifest).replace('"tree_size"', '"size"'))
  const args = ['verify', path, '--keys', await write('unread-keys.json', keyDocument)]
  const json = await runCli([...args, '--json'], nowhere)
  expect(json.code).toBe(2)
  expect(JSON.parse(json.stdout)).toMatchObject({
    verified: false,
    checked: 70,
    failed: 0,
    trust: expect.stringMatching(/because the manifest cannot be read$/),
    failures: [{ line: null, reason: expect.stringMatching(/^manifest-malformed: \/log\/tree_size/) }],
  })
  expect(json.stderr).toContain('Download it again')
  expect((await runCli(args, nowhere)).stdout).toContain('NOT verified, because its manifest cannot be read')
})

describe('what it rests on', () => {
  test('keys in a document, in a manifest, or one in a line', async () => {
    const path = await write('plain.jsonl', made.file)
    const [entry] = made.manifest.keys.keys
    for (const keys of [keyDocument, JSON.stringify(made.manifest), `# of the Hub\n${entry!.vkey}\n`]) {
      const { report, trust } = await verifyFile(path, { keys: await write('keys', keys) })
      expect(report).toMatchObject({ verified: true, checked: 70 })
      expect(trust).toMatch(/^1 key pinned in .*completeness is unknown/)
    }
    for (const keys of ['{"keys":[]}', '', 'x+y+z', '{"keys":[{}]}', '[]', '{']) {
      await expect(verifyFile(path, { keys: await write('keys', keys) })).rejects.toThrow(/no keys/)
    }
  })

  test('not the manifest’s own keys where others are given', async () => {
    const path = await writeExport('forged.jsonl', makeExport(sealedLog([3], strangeKey), { key: strangeKey }))
    expect((await verifyFile(path, {})).report.verified).toBe(true)
    const pinned = await verifyFile(path, { keys: await write('pinned.json', keyDocument) })
    expect(pinned.report).toMatchObject({ verified: false, failed: 3 })
    expect(pinned.report.failures.map(({ reason }) => reason.split(':')[0])).toEqual([
      ...Array(3).fill('key-unknown'),
      'manifest-statement',
      'checkpoint',
      'log-root',
    ])
  })

  test('a pinned key, and those that it leads to', async () => {
    const rotated = makeExport(sealedLog([3, 2], secondKey), { key: secondKey })
    const note = successionNote(
      { logName: firstKey.name, fromKeyId: firstKey.keyId, to: secondKey, timeMicros: 1_800_000_000_000_000 },
      { sha256, sign: firstKey.sign },
    )
    const keys = {
      keys: [keyDocumentEntry(firstKey, sha256), { ...keyDocumentEntry(secondKey, sha256), succession: note }],
    }
    const pinned = await write('first.vkey', keyDocumentEntry(firstKey, sha256).vkey)
    // The manifest states its keys, so it is signed with those that it has.
    const path = await writeExport('rotated.jsonl', makeExport(sealedLog([3, 2], secondKey), { key: secondKey, keys }))
    const { report, trust } = await verifyFile(path, { keys: pinned })
    expect(report).toMatchObject({ verified: true, checked: 5 })
    expect(trust).toContain(`${secondKey.keyId} by succession`)
    const unknown = await verifyFile(await writeExport('unknown.jsonl', rotated), { keys: pinned })
    expect(unknown.report.verified).toBe(false)
    expect(unknown.trust).toContain(`${secondKey.keyId} of the file is not trusted: no key introduces it`)
  })

  test('keys that are older than a rotation: the hint to fetch them again is given once', async () => {
    const path = await write('newer.jsonl', makeExport(sealedLog([3, 2], secondKey), { key: secondKey }).file)
    const old = { keys: await write('old.json', keyDocument) }
    const verification = await verifyFile(path, old)
    expect(verification.report).toMatchObject({ failed: 5, failureCount: 5 })
    expect(reportText(verification).match(/fetch the key document/g)).toHaveLength(1)
    expect(verification.trust).toContain('its `succession` links the new keys to yours')
    const changed = await verifyFile(await write('changed.jsonl', made.file.replace('No. 7 ', 'No. 8 ')), old)
    expect([changed.outcome, changed.trust.includes('fetch the key')]).toEqual(['failed', false])
  })

  test('what an address answers, of this machine or by https', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/keys') response.end(keyDocument)
      else if (request.url === '/manifest') response.end(JSON.stringify(made.manifest))
      else response.writeHead(request.url === '/moved' ? 302 : 404, { location: '/keys' }).end()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      const path = await write('remote.jsonl', made.file)
      const { report, trust } = await verifyFile(path, { keys: `${base}/keys`, manifest: `${base}/manifest` })
      expect(report).toMatchObject({ verified: true, manifest: { isInLog: true } })
      expect(trust).toContain(`as ${base}/keys answered them now`)
      for (const [place, message] of [
        [`${base}/none`, 'answers 404'],
        [`${base}/moved`, 'cannot be fetched'],
        ['http://hub.example/keys', 'http can be changed on the way'],
      ] as const) {
        await expect(verifyFile(path, { keys: place })).rejects.toThrow(message)
        await expect(verifyFile(path, { keys: `${base}/keys`, manifest: place })).rejects.toThrow(message)
      }
    } finally {
      server.close()
    }
  })
})

describe('for people', () => {
  test('what was checked and what was left out', async () => {
    const path = await writeExport(
      'some.jsonl',
      makeExport(sealedLog([3, 64, 2]), { keeps: (record) => record.record_type === 'decision' }),
    )
    const text = reportText(await verifyFile(path, {})).replaceAll(directory, '')
    expect(text).toMatch(/some.jsonl: verified\n/)
    expect(text).toContain('23 records (JSONL), 0 failed')
    expect(text).toContain('entries 0 to 3 of 3 lead to the root of the signed checkpoint')
    expect(text).toContain('every leaf of these entries is accounted for; 23 records in the file, 46 left out')
  })

  test('no more than a hundred findings, and how many more there are', async () => {
    const strange = makeExport(sealedLog(Array(5).fill(50), strangeKey, 'strange'))
    const verification = await verifyFile(await writeExport('strange.jsonl', made, strange.file), {})
    expect(verification.report).toMatchObject({ checked: 250, failed: 250 })
    const lines = reportText(verification).split('\n')
    expect(lines.filter((line) => /^ {2}line \d+/.test(line))).toHaveLength(100)
    expect(lines.at(-1)).toMatch(/… and \d+ more; --json lists all/)
  })
})
