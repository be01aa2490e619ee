import { archetypes, type DemoPerson, people } from '../company.ts'
import type { DemoApi, DemoCounts } from '../demo-api.ts'
import { listAll } from './lists.ts'
import type { StepProgress } from './progress.ts'

const callsInFlight = 3
const scimPageSize = 200
const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

interface Connection {
  mode: 'push' | 'pull'
  scim_base_url: string
  bearer_token?: string
  group_archetype_map: { group: string; archetype_id: string }[]
}

interface ScimResource {
  id: string
  userName?: string
  displayName?: string
}

/** Calls the SCIM server as the directory of the demo. */
interface Directory {
  create(resource: 'Users' | 'Groups', body: object): Promise<ScimResource>
  list(resource: 'Users' | 'Groups'): Promise<ScimResource[]>
}

/**
 * Provisions the people and groups by SCIM, as a directory would. Leaves the roster alone if the tenant has a directory
 * of its own.
 */
export async function provisionPeople(api: DemoApi, progress: StepProgress): Promise<DemoCounts> {
  const connection = await connect(api)
  if (connection === undefined) return { written: 0, found: 0 }
  const roster = await listAll<{ user_name?: string }>(api, '/api/v1/roster/users')
  const groups = await listAll<{ display_name?: string }>(api, '/api/v1/roster/groups')
  const known = new Set(roster.map(({ user_name }) => user_name))
  const missing = people.filter(({ email }) => !known.has(email))
  const named = new Set(groups.map(({ display_name }) => display_name))
  const counts = { written: missing.length, found: people.length - missing.length }
  progress.advance(counts.found)
  if (missing.length === 0 && archetypes.every(({ group }) => named.has(group))) return counts
  const directory = await openDirectory(api, connection)
  await createPeople(directory, missing, progress)
  const ids = new Map((await directory.list('Users')).map(({ userName, id }) => [userName, id]))
  const present = new Set((await directory.list('Groups')).map(({ displayName }) => displayName))
  for (const { group } of archetypes.filter((each) => !present.has(each.group))) {
    const members = people.filter((person) => person.group === group).map(({ email }) => ({ value: ids.get(email) }))
    await directory.create('Groups', { schemas: [groupSchema], displayName: group, members })
    progress.advance(1)
  }
  return counts
}

/** Returns the connection of the demo, creating it if the tenant has none; undefined if the tenant has another. */
async function connect(api: DemoApi): Promise<Connection | undefined> {
  const path = '/api/v1/identity/scim/configure'
  const wanted = archetypes.map(({ group, archetype_id }) => ({ group, archetype_id }))
  const health = await api.get<{ checks: { identity: { scim_configured: boolean } } }>(
    '/api/v1/observability/tenant-health',
  )
  if (!health.checks.identity.scim_configured) {
    return api.post<Connection>(path, { body: { mode: 'push', group_archetype_map: wanted } })
  }
  const present = await api.get<Connection>(path)
  const isOfDemo = wanted.every((one) =>
    present.group_archetype_map.some((other) => other.group === one.group && other.archetype_id === one.archetype_id),
  )
  return present.mode === 'push' && isOfDemo ? present : undefined
}

/** Rotates the token: a connection shows it once, so a later load needs another. */
async function openDirectory(api: DemoApi, connection: Connection): Promise<Directory> {
  const token =
    connection.bearer_token ??
    (await api.post<{ bearer_token: string }>('/api/v1/identity/scim:rotate-token')).bearer_token
  const root = new URL(connection.scim_base_url).pathname
  return {
    create: (resource, body) => api.scim('POST', `${root}/${resource}`, token, body),
    async list(resource) {
      const found: ScimResource[] = []
      for (;;) {
        const query = `startIndex=${found.length + 1}&count=${scimPageSize}&attributes=userName,displayName`
        const page = await api.scim<{ totalResults: number; Resources?: ScimResource[] }>(
          'GET',
          `${root}/${resource}?${query}`,
          token,
        )
        found.push(...(page.Resources ?? []))
        if (found.length >= page.totalResults || !page.Resources?.length) return found
      }
    },
  }
}

async function createPeople(directory: Directory, missing: DemoPerson[], progress: StepProgress): Promise<void> {
  const queue = [...missing]
  const worker = async () => {
    for (let person = queue.shift(); person !== undefined; person = queue.shift()) {
      const { givenName, familyName, email } = person
      await directory.create('Users', {
        schemas: [userSchema],
        userName: email,
        name: { givenName, familyName },
        active: true,
        displayName: `${givenName} ${familyName}`,
        emails: [{ value: email, type: 'work', primary: true }],
      })
      progress.advance(1)
    }
  }
  await Promise.all(Array.from({ length: callsInFlight }, worker))
}
