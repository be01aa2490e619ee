import type { Role } from '../../contract/roles.ts'
import type { UserResponse } from '../../server/modules/roster/roster-types.ts'
import { type AuthHub, startAuthHub } from '../auth/auth-hub.ts'
import { eventsOf } from '../auth/auth-lab.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'

export const usersPath = '/api/v1/roster/users'

/** The Hub with what tests about users need. */
export interface RosterLab extends AuthHub {
  /** Adds a user, as an administrator would. */
  add(slug: string, email: string, role?: Role): Promise<UserResponse>
  get(slug: string, userId: string): Promise<UserResponse>
  /** Calls a path below a user, as an administrator. */
  act(slug: string, userId: string, action: 'deactivate' | 'reactivate'): ReturnType<AuthHub['call']>
  putRole(slug: string, userId: string, role: string, token?: string): ReturnType<AuthHub['call']>
  /** An access token of a new session of the user. */
  tokenOf(slug: string, user: { user_id: string }): Promise<string>
  /** The lowest epoch of the user's tokens that is good; undefined when nothing was revoked. */
  minEpoch(slug: string, userId: string): Promise<number | undefined>
  /** Details of the events about a user, oldest first. */
  eventsAbout(slug: string, userId: string): Promise<Record<string, unknown>[]>
}

export async function startRosterLab(): Promise<RosterLab> {
  const hub = await startAuthHub()
  const good = async (answer: ReturnType<AuthHub['call']>) => {
    const { status, body } = await answer
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    ...hub,
    add: (slug, email, role) => good(hub.call(slug, 'POST', usersPath, { body: { email, ...(role && { role }) } })),
    get: (slug, userId) => good(hub.call(slug, 'GET', `${usersPath}/${userId}`)),
    act: (slug, userId, action) => hub.call(slug, 'POST', `${usersPath}/${userId}:${action}`),
    putRole: (slug, userId, role, token) =>
      hub.call(slug, 'PUT', `${usersPath}/${userId}/role`, { body: { role }, ...(token && { token }) }),
    tokenOf: (slug, { user_id }) => tokenOfPerson(hub.hub, slug as TestTenant, user_id),
    async minEpoch(slug, userId) {
      const superuser = await hub.hub.superuserClient()
      const { rows } = await superuser.query(
        'select min_epoch from hub.revocations where tenant_slug = $1 and principal = $2',
        [slug, `user:${userId}`],
      )
      return rows[0]?.min_epoch
    },
    eventsAbout: (slug, userId) => eventsAbout(hub.hub, slug as TestTenant, userId),
  }
}

/** An access token of a person who signs in with a link just now. */
export async function tokenOfPerson(hub: TestHub, slug: TestTenant, userId: string): Promise<string> {
  const { auth, roster } = hub.modules
  const tenant = await hub.tenant(slug)
  const session = await hub.test.database.withTenant(slug, async (tx) => {
    const user = await roster.signInUsers.byId(tx, userId)
    if (!user) throw new Error(`no user ${userId} in ${slug}`)
    return auth.sessions.open(tx, tenant, { user, method: 'magic_link', address: '127.0.0.1', requestId: 'test' })
  })
  return (await auth.sessions.firstToken(tenant, session)).token.access_token
}

export async function eventsAbout(hub: TestHub, slug: TestTenant, userId: string): Promise<Record<string, unknown>[]> {
  const events = await eventsOf(hub.test.database, slug)
  return events
    .filter(({ subject, event_kind }) => subject === `user:${userId}` && event_kind === 'tenant.config_changed')
    .map(({ details }) => details)
}

/** Answers about users whom the tenant does not have; one of them is another tenant's, and stays as it was. */
export async function askForStrangers(lab: RosterLab, method: string, rest: string, body?: unknown): Promise<string[]> {
  const foreign = await lab.add('globex', `${method}${rest.replaceAll(/\W/g, '')}@example.com`)
  const ids = [foreign.user_id, 'usr_000000000000000000000000', "x'; drop table hub.users", '%', '..%2fusers']
  const answers: string[] = []
  for (const id of [...ids, 'x'.repeat(65)]) {
    const path = `${usersPath}/${encodeURIComponent(id)}${rest}`
    const { status, body: problem } = await lab.call('acme', method, path, body === undefined ? {} : { body })
    answers.push([status, problem.type.split('/').at(-1), ...(problem.errors ?? []).map(pointerOf)].join(' '))
  }
  const isAsBefore = JSON.stringify(await lab.get('globex', foreign.user_id)) === JSON.stringify(foreign)
  return [...answers, isAsBefore ? 'untouched' : 'changed']
}

/** Lists the expected results of {@link askForStrangers}. */
export const strangersAreUnknown = [
  ...Array.from({ length: 5 }, () => '404 not-found'),
  '400 validation-failed /path/user_id',
  'untouched',
]

export function pointerOf({ pointer }: { pointer: string }): string {
  return pointer
}
