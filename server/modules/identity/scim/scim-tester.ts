import { type Database, readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import {
  addressStep,
  type ConnectionTestResult,
  runConnectionTest,
  type Step,
  TestStepError,
} from '../../../outbound/connection-test.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { ScimConnections } from '../../roster/sync/sync-types.ts'
import { configuredScim, scimBaseUrl } from './scim-service.ts'
import type { ScimPage, ScimSource, ScimSourceResponse, ScimSources } from './scim-source-types.ts'
import type { ScimRow } from './scim-store.ts'

export type ScimTester = ReturnType<typeof createScimTester>

export function createScimTester(deps: {
  database: Database
  outbound: Pick<Outbound, 'resolvedProblemOf'>
  connections: Pick<ScimConnections, 'pullTokenOf'>
  sources: ScimSources
}) {
  return {
    /** Tests the stored connection. Throws `not-found` without one. */
    async run(tenant: Tenant): Promise<ConnectionTestResult> {
      const { row, token } = await readTenant(deps.database, tenant.slug, async (tx) => ({
        row: await configuredScim(tx),
        token: await deps.connections.pullTokenOf(tx, tenant),
      }))
      if (row.mode === 'push' || row.base_url === null) return runConnectionTest(stepsOfPush(tenant, row))
      if (token === undefined) return runConnectionTest([['token', failForLostToken]])
      return runConnectionTest(
        stepsOfPull(row.base_url, deps.sources.open(row.base_url, token), row.group_archetype_map, deps.outbound),
      )
    },
  }
}

function failForLostToken(): never {
  throw new TestStepError('The token was lost when the key of the tenant was destroyed. Configure SCIM with it again.')
}

function stepsOfPull(
  baseUrl: string,
  source: ScimSource,
  mapping: ScimRow['group_archetype_map'],
  outbound: Pick<Outbound, 'resolvedProblemOf'>,
): readonly Step[] {
  let users: ScimSourceResponse<ScimPage>
  return [
    addressStep(outbound, baseUrl, 'base_url'),
    [
      'reachable',
      async () => {
        users = await source.page('Users', { startIndex: 1, count: 1 })
        const problem = users.ok ? undefined : users.problem
        if (problem?.kind === 'unreachable' || problem?.kind === 'blocked') throw new TestStepError(problem.detail)
        return 'The directory responds.'
      },
    ],
    [
      'token',
      () => {
        if (users.ok || users.problem.kind !== 'token') return 'The directory accepts the bearer token.'
        const hint = 'Create a token there that can read users and groups, and configure SCIM with it.'
        throw new TestStepError(`${users.problem.detail} ${hint}`)
      },
    ],
    ['users', () => `GET /Users: ${countOf(users, 'person', 'people')}`],
    [
      'groups',
      async () => {
        const groups = await readGroups(source)
        const isServed = groups.ok || groups.problem.status !== 404
        if (isServed) return `GET /Groups: ${countOf(groups, 'group', 'groups')}`
        const words = 'GET /Groups: the directory serves no groups (404)'
        if (mapping.length === 0) return `${words}, and group_archetype_map names none.`
        throw new TestStepError(`${words}, and group_archetype_map names some: no archetypes come of them.`)
      },
    ],
  ]
}

/** Requests a group without members, if the directory supports that: the first group may be large. */
const readGroups = (source: ScimSource) => source.page('Groups', { startIndex: 1, count: 1, withoutMembers: true })

function countOf(answer: ScimSourceResponse<ScimPage>, one: string, many: string): string {
  if (!answer.ok) throw new TestStepError(answer.problem.detail)
  const { totalResults } = answer.value
  if (totalResults === undefined) return `readable; it does not say how many ${many}.`
  return `${totalResults} ${totalResults === 1 ? one : many}.`
}

function stepsOfPush(tenant: Tenant, row: ScimRow): readonly Step[] {
  return [
    [
      'token',
      () => {
        if (row.token_hash !== null)
          return 'A bearer token is set; if it is lost, POST /api/v1/identity/scim:rotate-token.'
        throw new TestStepError('No bearer token is set. Create one with POST /api/v1/identity/scim:rotate-token.')
      },
    ],
    ['settings', () => `At the directory, enter ${scimBaseUrl(tenant)} as the address, and the bearer token.`],
    [
      'last_request',
      () => {
        if (row.last_request_at !== null) return `The directory called last at ${row.last_request_at}.`
        throw new TestStepError(
          'The directory has not called yet, or not with the bearer token. Enter address and token there, and ' +
            'start its connection test.',
        )
      },
    ],
  ]
}
