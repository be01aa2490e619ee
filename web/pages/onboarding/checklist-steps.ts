import type { OperationId } from '../../../contract/operations.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import { formatCount } from '../../ui/formats.ts'

export type Health = ApiResponse<'getTenantHealth'>
export type CheckName = keyof Health['checks']

/** The place where a user can complete a check; absent for users who may not. */
export interface NextStep {
  label: string
  to:
    | '/settings/sign-in'
    | '/settings/directory'
    | '/skills/connectors'
    | '/skills/roster'
    | '/skills'
    | '/skills/grants'
  search?: Record<string, string>
  needs: OperationId
}

interface Step<Name extends CheckName> {
  title: string
  about: string
  /** Returns the state of a met check in one line. */
  summary(check: Health['checks'][Name]): string
  figures(check: Health['checks'][Name]): [label: string, value: string][]
  next(check: Health['checks'][Name]): NextStep[]
}

/** The Hub counts up to a thousand. */
const formatEvents = (count: number) =>
  count >= 1000 ? `${formatCount(1000)} events or more` : `${formatCount(count)} ${count === 1 ? 'event' : 'events'}`
const yes = (is: boolean, otherwise = 'no') => (is ? 'yes' : otherwise)

/** The six checks of interface section 4.4, in the order in which a tenant is set up. */
export const checklistSteps: { [Name in CheckName]: Step<Name> } = {
  identity: {
    title: 'Sign-in and directory',
    about: 'People sign in with the company account, and the directory says who they are.',
    summary: () => 'Single sign-on is healthy, and the directory is in sync.',
    figures: (check) => [
      ['Single sign-on', check.sso_configured ? (check.sso_healthy ? 'healthy' : 'fails') : 'not configured'],
      ['Directory', check.scim_configured ? `connected (${check.scim_mode})` : 'not connected'],
    ],
    next: (check) => [
      ...(check.sso_configured && check.sso_healthy
        ? []
        : [
            {
              label: check.sso_configured ? 'Test single sign-on' : 'Connect single sign-on',
              to: '/settings/sign-in',
              needs: 'configureSso',
            } as const,
          ]),
      ...(check.scim_configured && check.ok
        ? []
        : [
            {
              label: check.scim_configured ? 'Sync the directory' : 'Connect the directory',
              to: '/settings/directory',
              needs: 'configureScim',
            } as const,
          ]),
    ],
  },
  platforms: {
    title: 'Platforms',
    about: 'At least one platform took the published skills within the last 60 seconds.',
    summary: ({ connected, publishing }) =>
      `${formatCount(publishing)} of ${formatCount(connected)} ${connected === 1 ? 'platform' : 'platforms'} ${publishing === 1 ? 'takes' : 'take'} the skills.`,
    figures: (check) => [
      ['Connected', formatCount(check.connected)],
      ['Publishing', formatCount(check.publishing)],
      ['Failing', formatCount(check.failing)],
    ],
    next: (check) => [
      {
        label: check.connected === 0 ? 'Add a connector' : 'See the connectors',
        to: '/skills/connectors',
        needs: 'createConnector',
      },
    ],
  },
  hub: {
    title: 'Hub',
    about: 'The store of the tenant is provisioned: how long records are kept, and under which key.',
    summary: () => 'It is provisioned.',
    figures: (check) => [['Provisioned', yes(check.provisioned, 'not yet')]],
    next: () => [],
  },
  roster: {
    title: 'Roster',
    about: 'Each person has an archetype. Who was added by hand counts once they have one.',
    summary: ({ users }) =>
      users === 1 ? 'The one person has an archetype.' : `All ${formatCount(users)} people have archetypes.`,
    figures: (check) => [
      ['People', formatCount(check.users)],
      ['Without archetype', formatCount(check.unmatched)],
      ['Groups', formatCount(check.groups)],
    ],
    next: (check) =>
      check.users === 0
        ? [{ label: 'Connect the directory', to: '/settings/directory', needs: 'configureScim' }]
        : [
            { label: 'Show who has none', to: '/skills/roster', search: { matched: 'no' }, needs: 'listUsers' },
            { label: 'Map groups', to: '/settings/directory', needs: 'configureScim' },
          ],
  },
  skills: {
    title: 'Skills',
    about: 'Skills are published, and archetypes may use them.',
    summary: ({ published, granted }) =>
      published === 1
        ? 'The one published skill is granted.'
        : `${formatCount(granted)} of ${formatCount(published)} published skills are granted.`,
    figures: (check) => [
      ['Published', formatCount(check.published)],
      ['Granted', formatCount(check.granted)],
      ['Grants', formatCount(check.grants)],
    ],
    next: (check) =>
      check.published === 0
        ? [{ label: 'Add or apply a pack', to: '/skills', needs: 'applyCowork' }]
        : [{ label: 'Grant skills', to: '/skills/grants', needs: 'replaceArchetypeGrants' }],
  },
  telemetry: {
    title: 'Telemetry',
    about: 'Platforms report what is used. The first event makes the tenant live.',
    summary: ({ events_received }) => `${formatEvents(events_received)} received.`,
    figures: ({ events_received }) => [['Received', formatEvents(events_received)]],
    next: () => [],
  },
}

export const checkNames = Object.keys(checklistSteps) as CheckName[]
