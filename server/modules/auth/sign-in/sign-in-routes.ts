import type { FastifyInstance } from 'fastify'
import { patterns } from '../../../../contract/literals.ts'
import { addPage } from '../../../http/page.ts'
import { sessionPage } from './session-page.ts'
import { signInPage } from './sign-in-page.ts'

const slugPattern = new RegExp(patterns.tenantSlug)

/** The pages that people see while signing in; the web UI will take over `/`. */
export function addSignInPages(app: FastifyInstance, { mockLogin }: { mockLogin: boolean }): void {
  addPage(app, '/sign-in', async (request) => {
    const { hostTenant } = request
    const { tenant: asked } = request.query as { tenant?: unknown }
    const named = typeof asked === 'string' && slugPattern.test(asked) ? asked : ''
    return signInPage({ tenant: hostTenant?.slug ?? named, tenantIsFixed: hostTenant !== null, mockLogin })
  })
  addPage(app, '/session', async () => sessionPage())
}
