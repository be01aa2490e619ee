import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { tenantNamedBy } from '../../../http/auth-middleware.ts'
import { setRefreshCookie, setSessionCookie } from '../../../http/cookies.ts'
import { addRoute } from '../../../http/route.ts'
import { UserTokenResponse } from '../auth-schemas.ts'
import { Email, TenantSlug } from './magic-link-schemas.ts'
import type { MockLogin, MockSignIn } from './mock-login-service.ts'

const MockLoginBody = Type.Object({ email: Email, tenant: Type.Optional(TenantSlug) }, { additionalProperties: false })

/** Adds the mock login. Never called in production, where the address is unknown like any other. */
export function addMockLoginRoutes(app: FastifyInstance, signIn: (login: MockLogin) => Promise<MockSignIn>): void {
  addRoute(
    app,
    'mockLogIn',
    {
      description:
        'Signs in as the person with this address, without authentication. People of the roster keep their role; ' +
        'any other address becomes a member. Without `tenant` and tenant header, the tenant of the host is used, ' +
        'else the only tenant, else (in development) `demo`. The endpoint does not exist in production.',
      body: MockLoginBody,
      response: { 200: UserTokenResponse },
      problems: ['invalid-tenant', 'authentication-failed'],
    },
    async (request, reply) => {
      const { email } = request.body
      const tenant = tenantNamedBy(request, request.body.tenant)
      await request.credentialCharges.attempt()
      const { session, issued } = await signIn({
        email,
        tenant,
        hostTenant: request.hostTenant,
        address: request.callerAddress,
        requestId: request.id,
        userAgent: request.headers['user-agent'],
      })
      setSessionCookie(reply, session)
      setRefreshCookie(reply, issued.refreshCookie, issued.expiresAtMs)
      return issued.token
    },
  )
}
