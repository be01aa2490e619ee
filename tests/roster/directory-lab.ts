import type { TenantTx } from '../../server/db/database.ts'
import type { Tenant } from '../../server/http/caller.ts'
import type { Actor } from '../../server/modules/governance/governance-types.ts'
import type {
  Directory,
  DirectoryFilter,
  DirectoryGroupWrite,
  DirectoryUserWrite,
} from '../../server/modules/roster/directory/directory-types.ts'
import { eventsOf } from '../auth/auth-lab.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'

export const actor: Actor = { service: 'test' }

export function person(userName: string, rest: Partial<DirectoryUserWrite> = {}): DirectoryUserWrite {
  return { userName, externalId: null, active: true, attributes: {}, ...rest }
}

export function group(displayName: string, rest: Partial<DirectoryGroupWrite> = {}): DirectoryGroupWrite {
  return { displayName, externalId: null, attributes: {}, ...rest }
}

/** A comparison in a filter. */
export function compare(path: string, operator: string, value: unknown): DirectoryFilter {
  return { kind: 'compare', path: path.split('.'), operator, value } as DirectoryFilter
}

export interface DirectoryLab {
  directory: Directory
  /** In a transaction of the tenant. */
  run<T>(work: (tx: TenantTx, tenant: Tenant, directory: Directory) => Promise<T>, slug?: TestTenant): Promise<T>
  add(user: DirectoryUserWrite, slug?: TestTenant): ReturnType<Directory['createUser']>
  addGroup(
    displayName: string,
    memberIds?: readonly string[],
    rest?: Partial<DirectoryGroupWrite>,
  ): ReturnType<Directory['createGroup']>
  /** What the configuration of SCIM would hold. */
  map(entries: Record<string, string>, slug?: TestTenant): Promise<void>
  /** The bundle. */
  archetypes(...ids: string[]): Promise<void>
  archetypesOf(userId: string): Promise<string[]>
  row(userId: string, slug?: TestTenant): Promise<Record<string, unknown>>
  /** Kind and details of the events about a subject, oldest first. */
  events(subject: string, slug?: TestTenant): Promise<{ event_kind: string; details: Record<string, unknown> }[]>
}

export function openDirectoryLab(hub: TestHub): DirectoryLab {
  const { directory } = hub.modules.roster
  const run: DirectoryLab['run'] = async (work, slug = 'acme') => {
    const tenant = await hub.tenant(slug)
    return hub.test.database.withTenant(slug, (tx) => work(tx, tenant, directory))
  }
  return {
    directory,
    run,
    add: (user, slug) => run((tx, tenant) => directory.createUser(tx, tenant, user, { actor }), slug),
    addGroup: (displayName, memberIds = [], rest = {}) =>
      run((tx, tenant) => directory.createGroup(tx, tenant, group(displayName, rest), memberIds, { actor })),
    async map(entries, slug = 'acme') {
      const superuser = await hub.superuserClient()
      await superuser.query(
        `insert into hub.scim_configurations (tenant_id, connection_id, mode, group_archetype_map, created_at, updated_at)
         values ($1, 'scim_test', 'push', $2, now(), now())
         on conflict (tenant_id) do update set group_archetype_map = excluded.group_archetype_map`,
        [slug, JSON.stringify(Object.entries(entries).map(([name, id]) => ({ group: name, archetype_id: id })))],
      )
      await hub.test.proveRows('hub.scim_configurations')
    },
    async archetypes(...ids) {
      const archetypes = ids.map((id) => ({ archetype_id: id }))
      const { status, text } = await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
      if (status !== 200) throw new Error(text)
    },
    async archetypesOf(userId) {
      const superuser = await hub.superuserClient()
      const { rows } = await superuser.query(
        `select archetype_id from hub.user_archetypes where user_id = $1 order by archetype_id`,
        [userId],
      )
      return rows.map((row) => row.archetype_id)
    },
    async row(userId, slug = 'acme') {
      const superuser = await hub.superuserClient()
      const { rows } = await superuser.query('select * from hub.users where tenant_id = $1 and user_id = $2', [
        slug,
        userId,
      ])
      return rows[0]
    },
    async events(subject, slug = 'acme') {
      const events = await eventsOf(hub.test.database, slug)
      return events.filter((event) => event.subject === subject) as never
    },
  }
}
