import type { FastifyInstance } from 'fastify'
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
      description: 'Sorted by archetype, then skill.',
      querystring: GrantsQuery,
      response: { 200: GrantList },
    },
    async (request) => grants.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getArchetypeGrants',
    {
      description: 'Returns the skills that people with this archetype can use, with the pack that granted each.',
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
        'Grants the archetype exactly these skills. A grant of a pack stays with the pack; a grant that is ' +
        'revoked here returns when its pack is applied again. Repeating it changes nothing.',
      params: ArchetypeParams,
      body: ArchetypeGrantsBody,
      response: { 200: ArchetypeGrantsSchema },
      problems: ['skill-not-registered'],
    },
    async (request) => grants.replace(request.caller, request.params.archetype_id, request.body.skill_ids),
  )
}
