import type { FastifyInstance } from 'fastify'
import { addRoute, emptyBody } from '../../../http/route.ts'
import type { UserResponse } from '../roster-types.ts'
import type { PersonalArchetypes } from './personal-archetypes.ts'
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
import type { Users } from './users-service.ts'

const grantRule =
  'Requires `roster:write` and every scope of the role, because callers cannot grant or revoke permissions that they do not have.'

export function addUserRoutes(app: FastifyInstance, users: Users): void {
  addRoute(
    app,
    'listUsers',
    { description: 'The oldest first.', querystring: UsersQuery, response: { 200: UserList } },
    async (request) => users.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'createUser',
    {
      description:
        'Adds a person with a role before their first sign-in; default is `member`. ' +
        `The address of a deactivated user can be used again. ${grantRule}`,
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
      description: 'Returns a person of the roster, managed by the directory or by an administrator.',
      params: UserParams,
      response: { 200: UserSchema },
    },
    async (request) => users.get(request.caller.tenant, request.params.user_id),
  )

  addRoute(
    app,
    'getUserRole',
    {
      description: "The role determines the scopes of the person's tokens.",
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
        'Access tokens of the old role end within 5 seconds; sessions continue, and their next tokens have the ' +
        'new role. The role of the last active administrator cannot change: add another administrator first. ' +
        'Requires `roster:write` and every scope of the old and the new role, because callers cannot grant or ' +
        'revoke permissions that they do not have.',
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
        `active administrator cannot be deactivated: add another administrator first. ${grantRule}`,
    },
    async (request) => users.deactivate(request.caller, request.params.user_id),
  )

  addRoute(
    app,
    'reactivateUser',
    {
      ...action,
      description: `The person can sign in again, unless another active user now has the address. ${grantRule}`,
    },
    async (request) => users.reactivate(request.caller, request.params.user_id),
  )
}

function roleOf({ user_id, role }: UserResponse) {
  return { user_id, role }
}

export function addPersonalArchetypeRoutes(app: FastifyInstance, archetypes: PersonalArchetypes): void {
  const response = { 200: UserArchetypesSchema }

  addRoute(
    app,
    'getUserArchetypes',
    {
      description:
        "Returns the archetypes of the person's groups, or those that an administrator assigned; `source` says which.",
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
        'Groups of the directory then no longer change the archetypes of this person. An archetype that is ' +
        'removed from the bundle is still removed.',
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
      description: 'Removes the manual assignment: the person has the archetypes of their groups at once.',
      params: UserParams,
      response,
    },
    async (request) => archetypes.reset(request.caller, request.params.user_id),
  )
}
