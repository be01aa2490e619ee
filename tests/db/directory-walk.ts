import type { DirectoryFilter, DirectoryQuery } from '../../server/modules/roster/directory/directory-types.ts'
import { actor, compare, group, openDirectoryLab, person } from '../roster/directory-lab.ts'
import type { TestHub } from '../support/hub.ts'

/** All that sends SQL about people, groups and archetypes of a directory. */
export async function walkDirectory(hub: TestHub, slug: 'acme' | 'globex'): Promise<void> {
  const lab = openDirectoryLab(hub)
  const { directory } = lab
  const run: typeof lab.run = (work) => lab.run(work, slug)
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(slug, method, `/api/v1/roster${path}`, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const { items: others } = await call('GET', '/archetypes?limit=1000')
  const bundle = (...more: object[]) => call('PUT', '/archetypes', { archetypes: [...others, ...more] })
  const walked = { archetype_id: 'walked' }
  await call('POST', '/users', { email: `walked@${slug}.example` })
  await bundle(walked)
  await lab.map({ Walked: 'walked' }, slug)

  const kim = await lab.add(
    person(`walked@${slug}.example`, { externalId: 'k', attributes: { displayName: 'Kim' } }),
    slug,
  )
  const lee = await lab.add(person('walker'), slug)
  const made = await run((tx, tenant) =>
    directory.createGroup(tx, tenant, group('Walked'), [kim.userId, lee.userId], { actor }),
  )
  const id = made.groupId
  await run((tx, tenant) =>
    directory.changeGroup(tx, tenant, id, { group: group('walked', { externalId: 'g' }) }, { actor }),
  )
  const less = { members: { add: [kim.userId], remove: [lee.userId] } }
  await run((tx, tenant) => directory.changeGroup(tx, tenant, id, less, { actor }))
  await run((tx, tenant) => directory.changeGroup(tx, tenant, id, { members: { all: [lee.userId] } }, { actor }))
  for (const active of [false, true]) {
    const write = person(`walker-${active}@${slug}.example`, { active, attributes: { displayName: 'Lee' } })
    await run((tx, tenant) => directory.replaceUser(tx, tenant, lee.userId, write, { actor }))
  }

  const groupPage = await call('GET', '/groups?limit=1')
  if (groupPage.next_cursor) await call('GET', `/groups?limit=1&cursor=${groupPage.next_cursor}`)
  await call('GET', `/groups/${id}/members?limit=1`)
  for (const query of [`group_id=${id}`, 'archetype_id=walked', 'matched=true', 'matched=false']) {
    await call('GET', `/users?${query}`)
  }
  await call('PUT', `/users/${kim.userId}/archetypes`, { archetype_ids: ['walked'] })
  await call('GET', `/users/${kim.userId}/archetypes`)
  await bundle()
  await bundle(walked)
  await call('DELETE', `/users/${kim.userId}/archetypes`)

  await run((tx) => directory.user(tx, kim.userId))
  await run((tx) => directory.group(tx, id, true))
  for (const query of queries) {
    await run((tx) => directory.users(tx, query))
    await run((tx) => directory.groups(tx, { ...query, withMembers: true }))
  }
  await run((tx) =>
    hub.modules.roster.references.resolveUsers(tx, ['user:k', kim.userId, `user:walked@${slug}.example`]),
  )
  await run((tx) => directory.counts(tx))
  await pull(lab, slug)
  await run((tx, tenant) => directory.removeGroup(tx, tenant, id, { actor })).catch(() => undefined)
  const last = await lab.add(person(`last@${slug}.example`), slug)
  const rest = await run((tx, tenant) => directory.createGroup(tx, tenant, group('Rest'), [last.userId], { actor }))
  await run((tx, tenant) => directory.removeUser(tx, tenant, last.userId, { actor }))
  await run((tx, tenant) => directory.removeGroup(tx, tenant, rest.groupId, { actor }))
  // One stays, for whoever looks at the tables.
  const stays = await lab.add(person(`stays@${slug}.example`), slug)
  await run((tx, tenant) => directory.createGroup(tx, tenant, group('Walked'), [stays.userId], { actor }))
}

/** People and groups that come, take each other's names, and are not met again. */
async function pull(lab: ReturnType<typeof openDirectoryLab>, slug: 'acme' | 'globex'): Promise<void> {
  const { directory } = lab
  const put = (syncId: string, ...names: string[]) =>
    lab.run(async (tx, tenant) => {
      const users = names.map((name, index) => person(name, { externalId: `p${index}` }))
      const groups = names.map((name, index) => ({
        ...group(`Group ${name}`, { externalId: `q${index}` }),
        memberExternalIds: [`p${index}`],
      }))
      await directory.putUsers(tx, tenant, users, syncId, actor)
      await directory.putGroups(tx, tenant, groups, syncId, actor)
    }, slug)
  await put('walk-1', 'one', 'two')
  await put('walk-2', 'two', 'one')
  await put('walk-3', 'two')
  await lab.run(async (tx, tenant) => {
    await directory.countUnseen(tx, 'walk-3')
    while ((await directory.deactivateUnseen(tx, tenant, 'walk-3', actor, 100)).deactivated > 0);
    await directory.assignArchetypes(tx, tenant, actor, { after: '', limit: 1000 })
  }, slug)
}

const filters: DirectoryFilter[] = [
  ...['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'le'].map((operator) => compare('displayname', operator, 'x')),
  ...['id', 'externalid', 'username', 'title', 'name.familyname', 'emails', 'groups', 'groups.display', 'members'].map(
    (path) => compare(path, 'eq', 'x'),
  ),
  compare('active', 'eq', true),
  compare('meta.created', 'gt', '2026-01-01T00:00:00Z'),
  { kind: 'present', path: ['emails'] },
  { kind: 'present', path: ['members'] },
  { kind: 'some', path: ['groups'], filter: compare('display', 'sw', 'x') },
  { kind: 'not', term: { kind: 'or', terms: [compare('title', 'eq', 'x'), { kind: 'present', path: ['name'] }] } },
]

const queries: DirectoryQuery[] = [
  { offset: 0, count: 0 },
  { offset: 0, count: 2, sort: { path: ['displayname'], descending: true } },
  { offset: 0, count: 2, sort: { path: ['username'], descending: false } },
  { offset: 0, count: 2, sort: { path: ['emails'], descending: false } },
  ...filters.map((filter) => ({ filter, offset: 0, count: 2 })),
]
