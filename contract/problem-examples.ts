import { type ProblemSlug, problems } from './problems.ts'

const instance = '01890a5d-ac96-774b-bcce-b302099a8057'

/** Members that some problems have beyond the common ones. */
const extensions: Partial<Record<ProblemSlug, Record<string, unknown>>> = {
  'validation-failed': { errors: [{ pointer: '/record_type', detail: 'is required' }] },
  'invalid-tenant': { tenant_slug: 'acme' },
  'insufficient-scope': { required_scopes: ['hub:read'] },
}

/** Returns an example of the problem document of an error, for the API description and the page of the error. */
export function problemExample(slug: ProblemSlug): Record<string, unknown> {
  const { status, title, example } = problems[slug]
  return {
    type: `https://hub.example.com/errors/${slug}`,
    title,
    status,
    detail: example,
    instance,
    ...extensions[slug],
  }
}
