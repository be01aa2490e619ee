import type { FastifyInstance } from 'fastify'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { addRoute } from '../../http/route.ts'
import type { Groups } from './directory/groups-service.ts'
import { ArchetypeBundleSchema, ArchetypeList, GroupList, GroupMemberList, GroupParams } from './roster-schemas.ts'
import type { Archetypes } from './roster-service.ts'

export function addRosterRoutes(app: FastifyInstance, archetypes: Archetypes): void {
  addRoute(
    app,
    'listArchetypes',
    {
      description: 'Returns the archetypes of the bundle.',
      querystring: PageQuery,
      response: { 200: ArchetypeList },
    },
    async (request) => archetypes.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'replaceArchetypes',
    {
      description:
        'Replaces the whole bundle. Telemetry with another archetype is refused. A removed archetype is removed ' +
        'from people and loses its grants.',
      body: ArchetypeBundleSchema,
      response: { 200: ArchetypeBundleSchema },
    },
    async (request) => {
      const { caller, body } = request
      return { archetypes: await archetypes.replace(caller.tenant, body.archetypes, caller) }
    },
  )
}

export function addGroupRoutes(app: FastifyInstance, groups: Groups): void {
  addRoute(
    app,
    'listGroups',
    { description: 'The oldest first.', querystring: PageQuery, response: { 200: GroupList } },
    async (request) => groups.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'listGroupMembers',
    {
      description: 'Returns the people of the group. Nested groups are not resolved.',
      params: GroupParams,
      querystring: PageQuery,
      response: { 200: GroupMemberList },
    },
    async (request) => groups.members(request.caller.tenant, request.params.group_id, request.query),
  )
}
