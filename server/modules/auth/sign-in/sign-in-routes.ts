import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { patterns } from '../../../../contract/literals.ts'
import { addPage } from '../../../http/page.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { askedReturnPath, type Landing } from './landing.ts'
import { sessionPage } from './session-page.ts'
import { signInPage } from './sign-in-page.ts'

const slugPattern = new RegExp(patterns.tenantSlug)

/** Adds the pages for signing in, which work without the web UI. */
export function addSignInPages(
  app: FastifyInstance,
  deps: {
    directory: Pick<TenantDirectory, 'commonUrl'>
    browserUrl: () => string
    landing: Landing
    mockLogin: boolean
  },
): void {
  const { directory, mockLogin, landing } = deps

  /**
   * Redirects to the host of the API. Cookies are valid only there, so nobody could sign in at the host of the web UI.
   */
  function toHostOfApi(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    const [commonUrl, browserUrl] = [directory.commonUrl(), deps.browserUrl()]
    if (commonUrl === browserUrl || request.host !== new URL(browserUrl).host) return undefined
    const { pathname, search } = new URL(request.url, commonUrl)
    return reply.redirect(`${commonUrl}${pathname}${search}`, 302)
  }

  addPage(app, '/sign-in', async (request, reply) => {
    const { hostTenant } = request
    const { tenant: asked } = request.query as { tenant?: unknown }
    const named = typeof asked === 'string' && slugPattern.test(asked) ? asked : ''
    const returnTo = askedReturnPath(request)
    const page = {
      tenant: hostTenant?.slug ?? named,
      tenantIsFixed: hostTenant !== null,
      mockLogin,
      returnTo,
      landing: landing(hostTenant ?? undefined, returnTo),
    }
    return toHostOfApi(request, reply) ?? signInPage(page)
  })
  addPage(app, '/session', async (request, reply) => toHostOfApi(request, reply) ?? sessionPage())
}
