import type { FastifyInstance } from 'fastify'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'

/** The pages that people see while signing in; the web UI will take over `/`. */
export function addSignInPages(
  _app: FastifyInstance,
  _deps: { directory: TenantDirectory; mockLogin: boolean },
): void {}
