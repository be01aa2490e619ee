import type { FastifyInstance } from 'fastify'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { addRoute, emptyBody } from '../../../http/route.ts'
import type { PersonalArchetypes, UserAnswer, Users } from '../roster-types.ts'
import {
  NewUserBody,
  RoleBody,
  UserArchetypesBody,
  UserArchetypesSchema,
  UserList,
  UserParams,
  UserRoleSchema,
  UserSchema,
  UsersQuery,
  userLocation,
} from './users-schemas.ts'

const grantRule = 'Needs every scope of the role besides `roster:write`: nobody gives or takes what they do not hold.'

export function addUserRoutes(app: FastifyInstance, users: Users): void {
  addRoute(
    app,
    'listUsers',
    { description: 'The oldest first.', querystring: UsersQuery, response: { 200: UserList } },
    async (request) => {
      const { limit = pageSizeDefault, cursor, ...filter } = request.query
      return users.list(request.caller.tenant, filter, { limit, cursor })
    },
  )

  addRoute(
    app,
    'createUser',
    {
      description:
        'Adds a person before they sign in for the first time, with the role they shall then have; default `member`. ' +
        `An address that only a deactivated user had may be given again. ${grantRule}`,
      body: NewUserBody,
      response: { 201: UserSchema },
      responseHeaders: { 201: userLocation },
      problems: ['concurrent-modification'],
    },
    async (request, reply) => {
      const user = await users.create(request.caller, request.body)
      reply.code(201).header('location', `/api/v1/roster/users/${user.user_id}`)
      return user
    },
  )

  addRoute(
    app,
    'getUser',
    {
      description: 'A person of the roster, whether the directory or an administrator keeps them.',
      params: UserParams,
      response: { 200: UserSchema },
    },
    async (request) => users.get(request.caller.tenant, request.params.user_id),
  )

  addRoute(
    app,
    'getUserRole',
    {
      description: 'The role decides on the scopes of the tokens of the person.',
      params: UserParams,
      response: { 200: UserRoleSchema },
    },
    async (request) => roleOf(await users.get(request.caller.tenant, request.params.user_id)),
  )

  addRoute(
    app,
    'replaceUserRole',
    {
      description:
        'Access tokens of the old role end within 5 seconds; sessions go on, and their next tokens are of the new ' +
        'role. The last active administrator keeps theirs: make another one first. ' +
        'Needs every scope of the old and the new role besides `roster:write`: nobody gives or takes what they do ' +
        'not hold.',
      params: UserParams,
      body: RoleBody,
      response: { 200: UserRoleSchema },
      problems: ['concurrent-modification'],
    },
    async (request) => roleOf(await users.replaceRole(request.caller, request.params.user_id, request.body.role)),
  )

  const action = {
    params: UserParams,
    body: emptyBody,
    bodyOptional: true,
    response: { 200: UserSchema },
    problems: ['concurrent-modification'],
  } as const

  addRoute(
    app,
    'deactivateUser',
    {
      ...action,
      description:
        'The person can no longer sign in; their sessions end, and their access tokens within 5 seconds. The last ' +
        `active administrator cannot be deactivated: make another one first. ${grantRule}`,
    },
    async (request) => users.deactivate(request.caller, request.params.user_id),
  )

  addRoute(
    app,
    'reactivateUser',
    {
      ...action,
      description: `The person can sign in again, unless another active user has the address by now. ${grantRule}`,
    },
    async (request) => users.reactivate(request.caller, request.params.user_id),
  )
}

function roleOf({ user_id, role }: UserAnswer) {
  return { user_id, role }
}

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
