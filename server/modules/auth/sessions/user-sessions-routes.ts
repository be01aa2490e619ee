import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { object } from '../../../../contract/object-schema.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { addRoute } from '../../../http/route.ts'
import { InvitedParams } from '../invitations/invitations-schemas.ts'
import { SessionList, SessionParams } from './sessions-schemas.ts'
import type { UserSessions } from './user-sessions.ts'

/** Adds the routes by which administrators see and end the sessions of others. */
export function addUserSessionRoutes(app: FastifyInstance, sessions: UserSessions): void {
  addRoute(
    app,
    'listUserSessions',
    {
      description:
        'Returns active sessions of the user, newest first. Authorizations of OAuth clients, such as agents, are ' +
        'sessions with `client_name`.',
      params: InvitedParams,
      querystring: PageQuery,
      response: { 200: SessionList },
      problems: ['invalid-cursor'],
    },
    async (request) => {
      const { limit = pageSizeDefault, cursor } = request.query
      return sessions.list(request.caller, request.params.user_id, { limit, cursor })
    },
  )

  addRoute(
    app,
    'endUserSession',
    {
      description:
        'Ends a session of the user, such as the authorization of an OAuth client; its access tokens end within 5 ' +
        'seconds.',
      params: object({ ...InvitedParams.properties, ...SessionParams.properties }),
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      const { user_id: userId, session_id: sessionId } = request.params
      await sessions.end(request.caller, userId, sessionId)
      return reply.code(204).send()
    },
  )
}
