import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { InvitationBody, InvitationResponse, InvitedParams } from './invitations-schemas.ts'
import type { Invitations } from './invitations-service.ts'

export function addInvitationRoutes(app: FastifyInstance, invitations: Invitations): void {
  addRoute(
    app,
    'inviteUser',
    {
      description:
        'Mails an invitation, or returns its link once. The link works once within 24 hours and opens only the first ' +
        'session of the person; a later invitation ends it. In a tenant with single sign-on, the invitation leads to ' +
        'the sign-in page instead, for every role. One address gets at most twenty invitations an hour.',
      params: InvitedParams,
      body: InvitationBody,
      bodyOptional: true,
      response: { 200: InvitationResponse },
      problems: ['concurrent-modification', 'hub-unavailable'],
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return invitations.invite(request.caller, request.params.user_id, request.body ?? {})
    },
  )
}
