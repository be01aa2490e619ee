import type { FastifyInstance, FastifyRequest } from 'fastify'
import { magicLinkHours } from '../../../../contract/limits.ts'
import { setSessionCookie } from '../../../http/cookies.ts'
import { addPage, addPageAction } from '../../../http/page.ts'
import { addRoute } from '../../../http/route.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import type { LinkPurpose } from '../../links/links-types.ts'
import { askedReturnPath, type Landing } from './landing.ts'
import { closedLinkPage, invitationPage, signInLinkPage, welcomePage } from './magic-link-pages.ts'
import type { MagicLinkRequests } from './magic-link-requests-service.ts'
import { MagicLinkBody, MagicLinkResponse } from './magic-link-schemas.ts'
import type { LinkAddress, MagicLinkSignIn } from './magic-link-sign-in-service.ts'

const paths: Record<LinkPurpose, string> = {
  welcome: '/welcome/:tenant/:token',
  sign_in: '/sign-in/link/:tenant/:token',
  invitation: '/invitation/:tenant/:token',
}
const pages = { welcome: welcomePage, sign_in: signInLinkPage, invitation: invitationPage }

const accepted = (listed: boolean) => ({
  status: 'accepted' as const,
  detail:
    'If a person with this address can sign in to this tenant by mail, a link is on its way. ' +
    `It is valid for ${magicLinkHours} hours. Earlier links stay valid.` +
    (listed ? ' This Hub runs in development, so the link is also on its console.' : ''),
})

export function addMagicLinkRoutes(
  app: FastifyInstance,
  deps: { requests: MagicLinkRequests; signIn: MagicLinkSignIn; landing: Landing; mailer: Pick<Mailer, 'listed'> },
): void {
  const answer = accepted(deps.mailer.listed)
  addRoute(
    app,
    'requestMagicLink',
    {
      description:
        'The response and its duration are the same for an unknown person or tenant. An address receives at most ' +
        'twenty links an hour; earlier links stay valid. In a tenant with single sign-on, only administrators ' +
        'receive links.',
      body: MagicLinkBody,
      response: { 202: MagicLinkResponse },
      problems: ['hub-unavailable'],
    },
    async (request, reply) => {
      await request.credentialCharges.attempt(request.body.email)
      const { email, tenant, return_to: returnTo } = request.body
      await deps.requests.accept({ email, tenant, returnTo, hostTenant: request.hostTenant?.slug })
      reply.status(202)
      return answer
    },
  )
  for (const purpose of Object.keys(paths) as LinkPurpose[]) addLinkPage(app, purpose, deps)
}

/** Adds the page of a link: GET shows its purpose; POST, sent only by its button, consumes it. */
function addLinkPage(
  app: FastifyInstance,
  purpose: LinkPurpose,
  { signIn: links, landing }: { signIn: MagicLinkSignIn; landing: Landing },
): void {
  addPage(app, paths[purpose], async (request) => {
    const found = await links.look(addressOf(request, purpose))
    if (found) {
      const formLeadsTo = landing(found.tenant, askedReturnPath(request))
      return { ...pages[purpose](found.tenant, found.link), formLeadsTo, noStore: true }
    }
    await request.credentialCharges.failed()
    return { ...closedLinkPage(), noStore: true }
  })
  addPageAction(app, paths[purpose], async (request, reply) => {
    const visitor = {
      address: request.callerAddress,
      requestId: request.id,
      userAgent: request.headers['user-agent'],
    }
    const opened = await links.signIn(addressOf(request, purpose), visitor)
    if (!opened) {
      await request.credentialCharges.failed()
      return { ...closedLinkPage(), noStore: true }
    }
    setSessionCookie(reply, opened.session)
    reply.header('cache-control', 'no-store')
    return reply.redirect(landing(opened.tenant, askedReturnPath(request)), 303)
  })
}

function addressOf(request: FastifyRequest, purpose: LinkPurpose): LinkAddress {
  const { tenant, token } = request.params as { tenant: string; token: string }
  return { purpose, tenant, token, hostTenant: request.hostTenant?.slug }
}
