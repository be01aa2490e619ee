import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'
import { groupEntry, manyPeople, personEntry, type SourceRequest } from '../support/scim-source.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(250)
  lab.source.groups = [groupEntry('Everybody', lab.source.users)]
  await lab.connect('acme', [{ group: 'Everybody', archetype_id: 'analyst' }])
  await lab.sync('acme')
})
afterAll(() => lab.close())
afterEach(() => {
  lab.source.faults = {}
  lab.source.pageMax = 1000
  lab.source.users = manyPeople(250)
  lab.source.groups = [groupEntry('Everybody', lab.source.users)]
})

const unchanged = { status: 'completed', added: 0, updated: 0, deactivated: 0, unmatched: 0 }
const since = (from: number) => lab.source.requests.slice(from).filter((line) => line.startsWith('GET /Users?'))
/** Lets the first requests of a kind fail. */
function failing(times: number, which: (request: SourceRequest) => boolean, fault: object) {
  let left = times
  return (request: SourceRequest) => {
    if (!which(request) || left <= 0) return undefined
    left -= 1
    return { status: 503, ...fault }
  }
}

describe('a page that fails', () => {
  test('is asked for again, alone', async () => {
    const from = lab.source.requests.length
    lab.source.faults.answer = failing(2, ({ resource, startIndex }) => resource === 'Users' && startIndex === 201, {})
    expect(await lab.sync('acme')).toMatchObject(unchanged)
    const page = (startIndex: number) => `GET /Users?startIndex=${startIndex}&count=200`
    expect(since(from)).toEqual([page(1), page(201), page(201), page(201)])
  })

  test('is asked for when the directory says, by Retry-After', async () => {
    const fault = { status: 429, headers: { 'retry-after': '1' } }
    let askedMs = 0
    const fails = failing(1, ({ resource }) => resource === 'Users', fault)
    lab.source.faults.answer = (request) => {
      if (askedMs === 0 || request.resource === 'Users') askedMs ||= performance.now()
      const answer = fails(request)
      if (!answer && request.startIndex === 1 && request.resource === 'Users') waitedMs = performance.now() - askedMs
      return answer
    }
    let waitedMs = 0
    expect(await lab.sync('acme')).toMatchObject(unchanged)
    expect(waitedMs).toBeGreaterThanOrEqual(990)
  })

  test('for good, as with a refused token, ends the sync with the reason, and deactivates nobody', async () => {
    lab.source.faults.answer = ({ startIndex }) => (startIndex > 1 ? { status: 401, body: 'inside' } : undefined)
    const failed = await lab.reaches('acme', await lab.start('acme'), 'failed')
    expect(failed).toMatchObject({
      deactivated: 0,
      error: { detail: expect.stringContaining('rejects the bearer token') },
    })
    expect(await lab.users('acme', '&active=true')).toHaveLength(250)
    const events = await lab.events('acme', 'roster.scim_sync_failed')
    expect(events.map((event) => event.subject)).toEqual([`sync:${failed.sync_id}`])
    expect(JSON.stringify([failed, events])).not.toMatch(/inside|token-of-the-directory/)
  })
})

test('another process that takes the sync up goes on from the page, and the one before ends', async () => {
  lab.source.pageMax = 50
  const from = lab.source.requests.length
  const reachesThird = new Promise<void>((resolve) => {
    lab.source.faults.answer = ({ startIndex }) => {
      if (startIndex === 101) resolve()
      return undefined
    }
  })
  lab.source.faults.slowMs = 150
  const syncId = await lab.start('acme')
  await reachesThird
  lab.source.faults.slowMs = 0
  const job = lab.hub.modules.roster.sync.jobs.find(({ name }) => name === 'roster-sync')!
  await job.handler({ data: { tenant: 'acme', sync_id: syncId }, signal: new AbortController().signal })
  expect(await lab.reaches('acme', syncId, 'completed')).toMatchObject({
    ...unchanged,
    progress: { done: 251, total: 251 },
  })
  const pages = since(from).map((line) => /startIndex=(\d+)/.exec(line)?.[1])
  expect(pages.filter((start) => start === '1')).toHaveLength(1)
  expect(await lab.events('acme', 'roster.scim_sync_completed')).toSatisfy(
    (events: { subject: string }[]) => events.filter(({ subject }) => subject === `sync:${syncId}`).length === 1,
  )
})

describe('a directory that pages in its own way', () => {
  test('gives fewer at a time', async () => {
    lab.source.pageMax = 33
    expect(await lab.sync('acme')).toMatchObject({ ...unchanged, progress: { done: 251, total: 251 } })
  })

  test('gives all at once', async () => {
    lab.source.pageMax = undefined
    lab.source.faults.entries = (_page, all, { startIndex }) => (startIndex === 1 ? all : [])
    expect(await lab.sync('acme')).toMatchObject(unchanged)
  })

  test('says no total, or a wrong one', async () => {
    for (const total of [undefined, 'many', -1, 251]) {
      lab.source.faults.total = (number, { resource }) => (resource === 'Users' ? total : number)
      expect(await lab.sync('acme')).toMatchObject(unchanged)
    }
  })

  test('leaves startIndex aside: it is told, and nobody is deactivated', async () => {
    lab.source.faults.entries = (_page, all) => all.slice(0, 200)
    const failed = await lab.reaches('acme', await lab.start('acme'), 'failed')
    expect(failed.error.detail).toContain('it does not page')
    expect(await lab.users('acme', '&active=true')).toHaveLength(250)
  })

  test('loses somebody between pages, because another left it: it is read again', async () => {
    lab.source.pageMax = 100
    lab.source.faults.answer = ({ resource, startIndex }) => {
      if (resource === 'Users' && startIndex === 101 && lab.source.users.length === 250) lab.source.users.shift()
      return undefined
    }
    // The second pass meets the one who moved to the first page. Who left is known from the first pass still.
    expect(await lab.sync('acme')).toMatchObject(unchanged)
    expect(await lab.sync('acme')).toMatchObject({ ...unchanged, deactivated: 1 })
    lab.source.users = manyPeople(250)
    lab.source.faults = {}
    expect(await lab.sync('acme')).toMatchObject({ updated: 1 })
  })

  test('says more than it gives, whatever is asked: whom it lacks is deactivated after a confirmation only', async () => {
    lab.source.users = manyPeople(249)
    lab.source.faults.total = (number, { resource }) => (resource === 'Users' ? number + 1 : number)
    const syncId = await lab.start('acme')
    const waits = await lab.reaches('acme', syncId, 'awaiting_confirmation')
    expect(waits).toMatchObject({
      to_deactivate: 1,
      confirmation_reason: expect.stringContaining('more people than it returned'),
    })
    await lab.hub.call('acme', 'POST', `/api/v1/roster/scim-syncs/${syncId}:cancel`)
  })
})

test('entries that cannot be used are counted; odd ones are kept by their names', async () => {
  const odd = personEntry('person-3', 'acme.example', { emails: 'none', phoneNumbers: [7], name: null, active: 'True' })
  lab.source.users = [
    ...manyPeople(250).map((entry, index) => (index === 3 ? odd : entry)),
    ...[null, 7, 'text', [], {}, { id: 'x' }, { userName: 9 }, { id: 'y', userName: '' }],
    { id: 'z', userName: 'a'.repeat(100_000) },
  ] as never
  const done = await lab.sync('acme')
  expect(done).toMatchObject({ deactivated: 0, skipped: 9 })
  const kept = 'has a userName or another attribute that the Hub cannot keep'
  const reasons = [...Array(4).fill('is no JSON object'), ...Array(3).fill('has no userName'), kept, kept]
  expect(done.skipped_entries).toEqual(reasons.map((reason, at) => ({ resource: 'Users', place: 251 + at, reason })))
  const text = '{"id": "p", "userName": "polluter@acme.example", "__proto__": {"admin": true}, "active": true}'
  lab.source.users = [...manyPeople(250), JSON.parse(text)]
  expect(await lab.sync('acme')).toMatchObject({ added: 1 })
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

test('two people who claim one external id stay two', async () => {
  const twins = ['twin-a', 'twin-b'].map((name) => personEntry(name, 'acme.example', { externalId: 'the-same' }))
  lab.source.users = [...manyPeople(250), ...twins]
  lab.source.groups = [groupEntry('Everybody', lab.source.users)]
  expect(await lab.sync('acme')).toMatchObject({ added: 2, unmatched: 0, skipped: 0 })
  expect(await lab.sync('acme')).toMatchObject({ added: 0, updated: 0, deactivated: 0 })
})

test('groups whose list has no members are asked for one by one', async () => {
  lab.source.faults.entries = (page, _all, { resource }) =>
    resource === 'Groups' ? page.map(({ members: _, ...group }) => group) : page
  expect(await lab.sync('acme')).toMatchObject({ unmatched: 0 })
  expect(lab.source.requests.at(-1)).toBe('GET /Groups/gid-Everybody')
})

test('a group that is gone takes its archetype along', async () => {
  lab.source.groups = [groupEntry('Others', lab.source.users.slice(0, 5))]
  expect(await lab.sync('acme')).toMatchObject({ unmatched: 250 })
})

test('a directory without groups is read where no archetype comes of them, and otherwise told', async () => {
  lab.source.faults.answer = ({ resource }) => (resource === 'Groups' ? { status: 404 } : undefined)
  const failed = await lab.reaches('acme', await lab.start('acme'), 'failed')
  expect(failed.error.detail).toMatch(/the directory has no groups \(404\).*group_archetype_map/)
  await lab.connect('globex')
  expect(await lab.sync('globex')).toMatchObject({ added: 250, unmatched: 250, progress: { done: 250, total: 250 } })
})

test('answers that are too large are asked for in parts, and members of groups one group at a time', async () => {
  const huge = { status: 200, body: ' '.repeat(5 * 1024 * 1024) }
  const from = lab.source.requests.length
  lab.source.groups = [groupEntry('Everybody', lab.source.users), groupEntry('Nobody', [])]
  lab.source.faults.answer = ({ resource, count = 1, withoutMembers }) => {
    if (resource === 'Users') return count > 50 ? huge : undefined
    return withoutMembers || count === 1 ? (withoutMembers || !isList() ? undefined : huge) : huge
  }
  const isList = () => lab.source.requests.at(-1)?.startsWith('GET /Groups?')
  expect(await lab.sync('acme')).toMatchObject({ status: 'completed', deactivated: 0, unmatched: 0, skipped: 0 })
  const asked = lab.source.requests.slice(from)
  expect(asked[0]).toBe('GET /Users?startIndex=1&count=200')
  expect(asked[1]).toBe('GET /Users?startIndex=1&count=50')
  const ofGroups = asked.filter((line) => line.startsWith('GET /Groups'))
  const apart = ofGroups.indexOf('GET /Groups?startIndex=1&count=200&excludedAttributes=members')
  expect(ofGroups[apart - 1]).toBe('GET /Groups?startIndex=1&count=1')
  // A time slice that ends between the groups reads the rest of the list again.
  const members = ofGroups.slice(apart).filter((line) => !line.endsWith('&excludedAttributes=members'))
  expect(members).toEqual(['GET /Groups/gid-Everybody', 'GET /Groups/gid-Nobody'])
})

test('an answer about one person that is too large ends the sync with the reason', async () => {
  lab.source.faults.answer = ({ startIndex }) =>
    startIndex > 200 ? { status: 200, body: ' '.repeat(5 * 1024 * 1024) } : undefined
  const failed = await lab.reaches('acme', await lab.start('acme'), 'failed')
  expect(failed.error.detail).toContain('GET /Users?startIndex=201&count=1: the answer about one entry is larger')
})
