import type { FastifyInstance } from 'fastify'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { addRoute } from '../../../http/route.ts'
import {
  ArchetypeGrantsBody,
  ArchetypeGrantsSchema,
  ArchetypeParams,
  GrantList,
  GrantsQuery,
} from './grants-schemas.ts'
import type { Grants } from './grants-service.ts'

export function addGrantRoutes(app: FastifyInstance, grants: Grants): void {
  addRoute(
    app,
    'listGrants',
    {
      description: 'In the order of archetype, then skill.',
      querystring: GrantsQuery,
      response: { 200: GrantList },
    },
    async (request) => {
      const { limit = pageSizeDefault, cursor, ...filter } = request.query
      return grants.list(request.caller.tenant, filter, { limit, cursor })
    },
  )

  addRoute(
    app,
    'getArchetypeGrants',
    {
      description: 'The skills that people with this archetype may use, each with the pack that gave it, if one did.',
      params: ArchetypeParams,
      response: { 200: ArchetypeGrantsSchema },
    },
    async (request) => grants.ofArchetype(request.caller.tenant, request.params.archetype_id),
  )

  addRoute(
    app,
    'replaceArchetypeGrants',
    {
      description:
        'Grants the archetype these skills and no others. A grant that a pack gave stays of that pack; one that is ' +
        'taken here comes back when its pack is applied again. Repeating it changes nothing.',
      params: ArchetypeParams,
      body: ArchetypeGrantsBody,
      response: { 200: ArchetypeGrantsSchema },
      problems: ['skill-not-registered'],
    },
    async (request) => grants.replace(request.caller, request.params.archetype_id, request.body.skill_ids),
  )
}
