import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import type { PersonalArchetypes } from '../roster-types.ts'
import { UserArchetypesBody, UserArchetypesSchema, UserParams } from './users-schemas.ts'

export function addPersonalArchetypeRoutes(app: FastifyInstance, archetypes: PersonalArchetypes): void {
  const response = { 200: UserArchetypesSchema }

  addRoute(
    app,
    'getUserArchetypes',
    {
      description: 'Those of all groups of the person, or what was given by hand: `source` says which.',
      params: UserParams,
      response,
    },
    async (request) => archetypes.get(request.caller.tenant, request.params.user_id),
  )

  addRoute(
    app,
    'replaceUserArchetypes',
    {
      description:
        'Afterwards groups of the directory no longer change the archetypes of this person. An archetype that leaves ' +
        'the bundle is still removed.',
      params: UserParams,
      body: UserArchetypesBody,
      response,
    },
    async (request) => archetypes.replace(request.caller, request.params.user_id, request.body.archetype_ids),
  )

  addRoute(
    app,
    'resetUserArchetypes',
    {
      description: 'Takes back what was set by hand: the person has the archetypes of their groups at once.',
      params: UserParams,
      response,
    },
    async (request) => archetypes.reset(request.caller, request.params.user_id),
  )
}
