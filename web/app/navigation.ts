import {
  IconChartHistogram,
  IconClipboardCheck,
  IconDatabase,
  IconDownload,
  IconGavel,
  IconPigMoney,
  IconPlug,
  IconPuzzle,
  IconSettings,
  IconTimeline,
  IconUsers,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { RecordType } from '../../contract/literals.ts'
import type { OperationId } from '../../contract/operations.ts'
import { canSee } from '../../contract/record-visibility.ts'
import type { Scope } from '../../contract/scopes.ts'

export interface Destination {
  to: string
  label: string
  /** Operations of which the user must be permitted one … */
  needs: readonly OperationId[]
  /** … and the record type that the user must be permitted to see, if set. */
  sees?: RecordType
  /** Further keywords for the command palette. */
  keywords?: string
}

/** The permissions of the signed-in user. */
export interface Rights {
  scopes: ReadonlySet<Scope>
  may(operationId: OperationId): boolean
}

export interface Section extends Destination {
  icon: ComponentType<{ size?: number; stroke?: number }>
  /** The tabs of the section; absent for a section of one page. */
  pages?: readonly Destination[]
  /** Set for sections below the line: they are not part of daily work. */
  group?: 'administration'
}

const onboarding = {
  to: '/onboarding',
  label: 'Onboarding',
  needs: ['getTenant', 'listUsers', 'listSkills'],
  keywords: 'checklist health live',
} as const satisfies Destination

/** Every page that a user can open, in the order of the navigation: daily work first, then administration. */
export const sections: readonly Section[] = [
  {
    to: '/',
    label: 'Overview',
    icon: IconChartHistogram,
    needs: ['summarizeTelemetry'],
    keywords: 'command center usage cost latency tokens failures dashboard',
  },
  {
    to: '/skills',
    label: 'Skills',
    icon: IconPuzzle,
    needs: ['listSkills'],
    pages: [
      { to: '/skills', label: 'Skills and packs', needs: ['listSkills'], keywords: 'cowork publish republish' },
      {
        to: '/skills/grants',
        label: 'Grants',
        needs: ['listGrants'],
        keywords: 'archetype skill matrix entitlement',
      },
    ],
  },
  {
    to: '/skills/roster',
    label: 'People',
    icon: IconUsers,
    needs: ['listUsers', 'replaceUserRole'],
    pages: [
      {
        to: '/skills/roster',
        label: 'Roster',
        needs: ['listUsers'],
        keywords: 'people users groups unmatched archetypes',
      },
      {
        to: '/settings/people',
        label: 'People and roles',
        needs: ['replaceUserRole'],
        keywords: 'invite admin auditor analyst member',
      },
    ],
  },
  {
    to: '/sessions',
    label: 'Sessions',
    icon: IconTimeline,
    needs: ['listTelemetrySessions'],
    keywords: 'trace span conversation run agent waterfall steps',
  },
  {
    to: '/records',
    label: 'Records',
    icon: IconDatabase,
    needs: ['queryRecords'],
    keywords: 'search output decision artifact telemetry',
  },
  {
    to: '/governance',
    label: 'Governance',
    icon: IconGavel,
    needs: ['queryRecords'],
    sees: 'governance_event',
    pages: [
      { to: '/governance', label: 'Events', needs: ['queryRecords'], keywords: 'audit log' },
      { to: '/governance/alarms', label: 'Tamper alerts', needs: ['queryRecords'], keywords: 'tamper detected' },
      { to: '/governance/holds', label: 'Legal holds', needs: ['listHolds'], keywords: 'hold release litigation' },
      {
        to: '/governance/certificates',
        label: 'Deletions',
        needs: ['getDeletionCertificate'],
        keywords: 'purge erasure certificate',
      },
      { to: '/governance/retention', label: 'Retention', needs: ['getRetentionRules'], keywords: 'rules days' },
      {
        to: '/governance/log',
        label: 'Log',
        needs: ['getLogCheckpoint'],
        keywords: 'checkpoint transparency consistency',
      },
    ],
  },
  {
    to: '/budgets',
    label: 'Budgets',
    icon: IconPigMoney,
    needs: ['listBudgets'],
    pages: [
      {
        to: '/budgets',
        label: 'Budgets',
        needs: ['listBudgets'],
        keywords: 'amount spending threshold alert forecast cost limit',
      },
      {
        to: '/budgets/alerts',
        label: 'Alert rules',
        needs: ['listWebhooks'],
        keywords: 'error rate latency cost threshold slack teams notify',
      },
    ],
  },
  {
    to: '/exports',
    label: 'Exports',
    icon: IconDownload,
    needs: ['listExports'],
    keywords: 'download csv parquet jsonl',
  },
  { ...onboarding, icon: IconClipboardCheck, group: 'administration' },
  {
    to: '/skills/connectors',
    label: 'Integrations',
    icon: IconPlug,
    needs: ['listConnectors', 'listWebhooks', 'getSso', 'getScim', 'listServiceAccounts'],
    group: 'administration',
    pages: [
      {
        to: '/skills/connectors',
        label: 'Connectors',
        needs: ['listConnectors'],
        keywords: 'claude chatgpt gemini copilot slack platform',
      },
      {
        to: '/webhooks',
        label: 'Webhooks',
        needs: ['listWebhooks'],
        keywords: 'deliveries endpoints signature slack teams',
      },
      { to: '/settings/sign-in', label: 'Single sign-on', needs: ['getSso'], keywords: 'sso oidc identity provider' },
      { to: '/settings/directory', label: 'Directory', needs: ['getScim'], keywords: 'scim sync entra okta' },
      {
        to: '/settings/service-accounts',
        label: 'Service accounts',
        needs: ['listServiceAccounts'],
        keywords: 'client secret api',
      },
    ],
  },
  {
    to: '/settings',
    label: 'Settings',
    icon: IconSettings,
    needs: ['listSessions'],
    group: 'administration',
    pages: [
      { to: '/settings', label: 'You', needs: ['listSessions'], keywords: 'profile sessions sign out' },
      { to: '/settings/tenant', label: 'Tenant', needs: ['getTenant'], keywords: 'name contact mode key cmek' },
      { to: '/settings/prices', label: 'Prices', needs: ['getPrices'], keywords: 'cost model rerate' },
      onboarding,
    ],
  },
]

/** Pages of one object each, which are reached by its name and not by the navigation. */
const objectPages: readonly Destination[] = [
  { to: '/usage/skills', label: 'Skill', needs: ['summarizeTelemetry'] },
  { to: '/usage/people', label: 'Person', needs: ['summarizeTelemetry'] },
  { to: '/usage/models', label: 'Model', needs: ['summarizeTelemetry'] },
  { to: '/usage/archetypes', label: 'Archetype', needs: ['summarizeTelemetry'] },
]

/**
 * Returns true if the user may open a page. Makes the API's check, so that no page is shown whose requests would be
 * rejected.
 */
export function mayOpen({ needs, sees }: Destination, { may, scopes }: Rights): boolean {
  return needs.some(may) && (sees === undefined || canSee(scopes, sees))
}

/**
 * Returns the sections that the user may see.
 *
 * @param isLive whether the tenant is live. Onboarding is a section until then, and a page of the settings afterwards.
 */
export function sectionsFor(me: Rights, isLive = false): Section[] {
  const isShown = ({ to }: Destination, isSection: boolean) => to !== onboarding.to || isSection !== isLive
  return sections
    .filter((section) => mayOpen(section, me) && isShown(section, true))
    .map((section) => ({
      ...section,
      ...(section.pages && { pages: section.pages.filter((page) => mayOpen(page, me) && isShown(page, false)) }),
    }))
}

/** Returns the section of a path: the one that has its page. */
export function sectionAt(pathname: string, shown: readonly Section[]): Section | undefined {
  const here = destinationAt(pathname)?.to
  return shown.find((section) => (section.pages ?? [section]).some(({ to }) => to === here))
}

/**
 * Returns the entry of a path: the one with the longest matching beginning. Pages inherit the required record type of
 * their section.
 */
export function destinationAt(pathname: string): Destination | undefined {
  const all = sections.flatMap((section): Destination[] => [
    section,
    ...(section.pages ?? []).map((page) => ({ ...(section.sees && { sees: section.sees }), ...page })),
  ])
  return [...all, ...objectPages]
    .filter(({ to }) => pathname === to || (to !== '/' && pathname.startsWith(`${to}/`)))
    .sort((one, other) => other.to.length - one.to.length || Number('icon' in one) - Number('icon' in other))[0]
}
