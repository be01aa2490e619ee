import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { recordTypes } from '../../contract/literals.ts'
import { createMasterKeySecrets } from '../../server/modules/cmek/tenant-secrets.ts'
import { createExportEncryption } from '../../server/modules/exports/export-encryption.ts'
import type { ExportRequest } from '../../server/modules/exports/exports-types.ts'
import { createExportWriter } from '../../server/modules/exports/files/export-writer.ts'
import { openCheckpointSource } from '../../server/modules/log/audit/checkpoint-source.ts'
import { createLogAudit } from '../../server/modules/log/audit/log-audit.ts'
import { decisionDraft, keepCheckpoints, openScenes, type Scene, writeSealed } from '../hub/attack-scenes.ts'
import { attacks, tableOf } from '../hub/attack-table.ts'
import { type Attack, backUp, type Detector, detectors } from '../hub/attack-ways.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const cases = attacks.flatMap((attack) =>
  Object.entries(attack.ways).map(([way, make]) => ({ attack, make, name: `${attack.name}: ${way}` })),
)
const untouched = 'nothing'
const swapped = 'the other tenant of a swap'

let hub: TestHub
let db: pg.Client
let scenes: Map<string, Scene>
/** The published keys, as an auditor has kept them. */
let keyFile: string

beforeAll(async () => {
  const time: FakeClock = fakeClock()
  hub = await startHub({ time })
  db = await hub.superuserClient()
  scenes = await openScenes(hub, db, time, [untouched, swapped, ...cases.map((each) => each.name)])
  await backUp(db)
  for (const { tenant } of scenes.values()) {
    await writeSealed(hub, tenant, decisionDraft('of today'))
    await hub.modules.log.logs.integrate(tenant)
  }
  keyFile = join(hub.dataDir, 'keys.json')
  await writeFile(keyFile, (await hub.call('acme', 'GET', '/.well-known/provenance-keys.json')).text)
  await keepCheckpoints(hub, scenes.values())
  for (const { name, make } of cases) await make(db, scenes.get(name)!, scenes.get(swapped)!, hub)
  hub.modules.hub.sweeper.start()
})

afterAll(() => hub.stop())

async function tamperEvents({ slug }: Scene): Promise<string[]> {
  const { rows } = await db.query(
    `select canonical::jsonb->>'subject' as subject from hub.records where tenant_id = $1 and event_kind = 'hub.tamper_detected'`,
    [slug],
  )
  return rows.map((row) => row.subject)
}

/** Each says whether it finds anything wrong with the tenant. */
const finds: Record<Detector, (scene: Scene) => Promise<boolean>> = {
  async read({ slug }) {
    const path = '/api/v1/hub/records?verify=true&include_purged=true&limit=100'
    const { status, body } = await hub.call(slug, 'GET', path)
    expect(status).toBe(200)
    const { checked, verified } = body.verification_summary
    return verified < checked
  },
  async verify({ slug, subject, neighbour, event, alone, purged, restored, erased }) {
    const known = [subject, neighbour, event, alone, purged, restored, erased]
    const { rows } = await db.query('select record_id from hub.records where tenant_id = $1', [slug])
    const ids = new Set([...known, ...rows.map((row) => row.record_id)])
    const answers = await Promise.all(
      [...ids].map((id) => hub.call(slug, 'POST', `/api/v1/hub/records/${id}/verify`, { body: {} })),
    )
    return answers.some(({ status, body }) => status === 200 && !body.verified)
  },
  sweep: async (scene) => (await tamperEvents(scene)).length > 0,
  async audit({ tenant }) {
    const sources = []
    for (const file of hub.modules.checkpoints.filesOf(tenant.logName)) {
      if (
        await access(file).then(
          () => true,
          () => false,
        )
      )
        sources.push(await openCheckpointSource(file))
    }
    expect(sources).toHaveLength(1)
    const audit = createLogAudit({
      database: hub.test.database,
      logs: hub.modules.log.logs,
      keys: hub.modules.keys.provenance,
    })
    return !(await audit.audit(tenant, sources)).verified
  },
  async export({ tenant, slug }) {
    const { modules } = hub
    const { database, masterKey } = hub.test
    const writer = createExportWriter({
      database,
      encryption: createExportEncryption({ database, secrets: createMasterKeySecrets(masterKey) }),
      storage: modules.storage,
      logs: modules.log.logs,
      keys: modules.keys.provenance,
      records: modules.recordStore.sealedRecords,
      verification: modules.verification.stored,
      search: modules.hub.searchMatches,
      clock: modules.recordStore.clock,
    })
    const order: ExportRequest = {
      ...{ jobId: 'exp_attack', format: 'jsonl', compression: null, filter: {}, recordTypes, verify: false },
      ...{ includeProvenance: true, createdBy: 'client-1', createdAt: '2026-11-21T08:00:00.000000Z' },
    }
    try {
      await writer.write(tenant, order, { signal: new AbortController().signal, progress: async () => {} })
    } catch (error) {
      // It refuses to prove what a damaged log does not.
      expect(error).toMatchObject({ name: 'DomainError', message: expect.stringContaining('log was damaged') })
      return true
    }
    const { file } = writer.fileNames(order)
    const path = join(hub.dataDir, 'storage', writer.keyOf(slug, order.jobId, file))
    return !(await verifyFile(path, { keys: keyFile })).report.verified
  },
}

describe('the running sweeper', () => {
  test('finds every attack within a minute', async () => {
    const missed = async () => {
      const left: string[] = []
      for (const { name } of cases) if (!(await finds.sweep(scenes.get(name)!))) left.push(name)
      return left
    }
    await expect.poll(missed, { timeout: scaled(60_000), interval: 250 }).toEqual([])
    await hub.modules.hub.sweeper.stop()
  })

  test('says what is wrong with what', async () => {
    const subjects = async (name: string) => {
      const scene = scenes.get(name)!
      const names: [string, string][] = Object.entries(scene).map(([key, value]) => [String(value), key])
      const all = await tamperEvents(scene)
      return all.map((subject) => {
        const [kind, id] = subject.split(/:(.*)/)
        return `${kind} ${kind === 'log' || kind === 'keys' ? '' : (names.find(([value]) => value === id)?.[1] ?? 'another')}`.trim()
      })
    }
    expect(await subjects('Edit the content of a record: canonical')).toEqual(['record neighbour'])
    expect(await subjects('Delete a record: row')).toEqual(['seal seal'])
    expect(await subjects('Delete a seal with its records: rows')).toEqual(['seal seal'])
    expect(await subjects('Insert a forged record, with a forged seal or none: without a seal')).toEqual([
      'record another',
    ])
    expect(await subjects('Delete the state of a record, or set it back to an earlier one: set back')).toEqual([
      'record restored',
    ])
    expect((await subjects('Delete a tombstone: row')).sort()).toEqual(['record erased', 'seal another'])
    expect(await subjects('Roll the database back to yesterday: tables')).toEqual(['log'])
    expect(await subjects('Insert a key of the attacker: beside the first')).toEqual(['keys'])
    expect(await subjects('Delete or edit a legal hold, or what it names: deleted')).toEqual(['hold hold'])
    expect(await subjects('End a legal hold by its row: from the beginning')).toEqual(['hold hold'])
    expect(await subjects('Forge a release of a governance event: row')).toEqual(['record event'])
    expect(await subjects('Forge a retention rule: rule')).toEqual(['tenant slug'])
    expect(await subjects('Insert a key of the attacker: that introduces the first')).toEqual(['keys'])
  })

  test('finds nothing where nothing was done', async () => {
    expect(await tamperEvents(scenes.get(untouched)!)).toEqual([])
  })
})

test('the service erases nothing whose buffer somebody has ended', async () => {
  for (const name of [
    'End the recovery period of a purged record, to have it erased: at once',
    'Set a state whose recovery period has ended, to hide a record: state',
  ]) {
    const { tenant, slug } = scenes.get(name)!
    const count = async () => (await db.query('select from hub.records where tenant_id = $1', [slug])).rowCount
    const before = await count()
    expect(await hub.modules.hub.erasure.run(tenant), name).toEqual({ erased: 0, held: 1 })
    expect(await count(), name).toBe(before)
  }
})

describe('every attack is found by exactly what the table says', () => {
  test.each(cases)('$name', async ({ attack, name }) => {
    expect(await detectorsOf(scenes.get(name)!)).toEqual(inOrder(attack))
  })

  test('and nothing is found where nothing was done', async () => {
    expect(await detectorsOf(scenes.get(untouched)!)).toEqual([])
  })

  test('docs/attacks.md has the same table', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/attacks.md'), 'utf8')
    expect(page).toContain(tableOf())
  })

  test('none goes unfound, nor past the sweeper', () => {
    for (const { name, foundBy } of attacks) expect(foundBy, name).toContain('sweep')
  })
})

async function detectorsOf(scene: Scene): Promise<Detector[]> {
  const found: Detector[] = []
  for (const detector of Object.keys(detectors) as Detector[]) {
    if (await finds[detector](scene)) found.push(detector)
  }
  return found
}

function inOrder({ foundBy }: Attack): Detector[] {
  return (Object.keys(detectors) as Detector[]).filter((detector) => foundBy.includes(detector))
}
