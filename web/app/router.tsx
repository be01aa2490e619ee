import { createRootRoute, createRoute, createRouter, stringifySearchWith } from '@tanstack/react-router'
import { webPages } from '../../contract/web-paths.ts'
import { addingSearch } from '../components/search-schemas.ts'
import CommandCenterPage from '../pages/command-center/command-center-page.tsx'
import { commandCenterSearch } from '../pages/command-center/command-center-search.ts'
import { connectorsSearch } from '../pages/connectors/connectors-search.ts'
import { exportsSearch } from '../pages/exports/exports-search.ts'
import { certificatesSearch } from '../pages/governance/certificates-search.ts'
import { eventsSearch } from '../pages/governance/events-search.ts'
import { holdsSearch } from '../pages/governance/holds/holds-search.ts'
import { grantsSearch } from '../pages/grants/grants-search.ts'
import { graphSearch } from '../pages/record-graph/graph-search.ts'
import { recordsSearch } from '../pages/records/records-search.ts'
import { rosterSearch } from '../pages/roster/roster-search.ts'
import { sessionsSearch } from '../pages/sessions/sessions-search.ts'
import { peopleSearch } from '../pages/settings/people-search.ts'
import { skillsSearch } from '../pages/skills/skills-search.ts'
import { usageSearch } from '../pages/usage/usage-search.ts'
import { endpointSearch } from '../pages/webhooks/endpoint-search.ts'
import { ErrorPage } from './error-page.tsx'
import { Layout } from './layout.tsx'
import { lazyPage } from './lazy-page.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { SkeletonPage } from './skeleton-page.tsx'

const root = createRootRoute({ component: Layout, notFoundComponent: NotFoundPage })
const getParentRoute = () => root

/**
 * Every address of the UI. The command center is part of the first script; another page loads when the user opens it or
 * points at a link to it. If a page has a state to link to, `validateSearch` names it: all values are strings, and
 * `AddressNotice` names those that have no effect.
 */
const routes = [
  createRoute({
    getParentRoute,
    path: webPages.commandCenter,
    validateSearch: commandCenterSearch,
    component: CommandCenterPage,
  }),
  createRoute({
    getParentRoute,
    path: webPages.records,
    validateSearch: recordsSearch,
    component: lazyPage(() => import('../pages/records/records-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.record,
    component: lazyPage(() => import('../pages/record/record-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.recordGraph,
    validateSearch: graphSearch,
    component: lazyPage(() => import('../pages/record-graph/graph-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.recordProof,
    component: lazyPage(() => import('../pages/record/proof-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.sessions,
    validateSearch: sessionsSearch,
    component: lazyPage(() => import('../pages/sessions/sessions-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.session,
    component: lazyPage(() => import('../pages/sessions/session-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.trace,
    component: lazyPage(() => import('../pages/sessions/trace-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.skillUsage,
    validateSearch: usageSearch,
    component: lazyPage(() => import('../pages/usage/skill-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.personUsage,
    validateSearch: usageSearch,
    component: lazyPage(() => import('../pages/usage/person-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.modelUsage,
    validateSearch: usageSearch,
    component: lazyPage(() => import('../pages/usage/model-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.archetypeUsage,
    validateSearch: usageSearch,
    component: lazyPage(() => import('../pages/usage/archetype-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.governance,
    validateSearch: eventsSearch,
    component: lazyPage(() => import('../pages/governance/events-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.tamperAlerts,
    component: lazyPage(() => import('../pages/governance/tamper-alerts-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.holds,
    validateSearch: holdsSearch,
    component: lazyPage(() => import('../pages/governance/holds/holds-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.certificates,
    validateSearch: certificatesSearch,
    component: lazyPage(() => import('../pages/governance/certificates-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.retention,
    component: lazyPage(() => import('../pages/governance/retention-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.log,
    component: lazyPage(() => import('../pages/governance/log-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.budgets,
    validateSearch: addingSearch,
    component: lazyPage(() => import('../pages/budgets/budgets-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.alertRules,
    component: lazyPage(() => import('../pages/budgets/alert-rules-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.exports,
    validateSearch: exportsSearch,
    component: lazyPage(() => import('../pages/exports/exports-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.export,
    component: lazyPage(() => import('../pages/exports/export-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.onboarding,
    component: lazyPage(() => import('../pages/onboarding/checklist-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.skills,
    validateSearch: skillsSearch,
    component: lazyPage(() => import('../pages/skills/skills-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.grants,
    validateSearch: grantsSearch,
    component: lazyPage(() => import('../pages/grants/grants-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.roster,
    validateSearch: rosterSearch,
    component: lazyPage(() => import('../pages/roster/roster-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.connectors,
    validateSearch: connectorsSearch,
    component: lazyPage(() => import('../pages/connectors/connectors-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.webhooks,
    validateSearch: addingSearch,
    component: lazyPage(() => import('../pages/webhooks/webhooks-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.webhook,
    validateSearch: endpointSearch,
    component: lazyPage(() => import('../pages/webhooks/endpoint-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.account,
    component: lazyPage(() => import('../pages/settings/account-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.tenant,
    component: lazyPage(() => import('../pages/settings/tenant-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.people,
    validateSearch: peopleSearch,
    component: lazyPage(() => import('../pages/settings/people-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.signIn,
    component: lazyPage(() => import('../pages/single-sign-on/sso-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.directory,
    component: lazyPage(() => import('../pages/directory/directory-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.serviceAccounts,
    validateSearch: addingSearch,
    component: lazyPage(() => import('../pages/settings/service-accounts-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: webPages.prices,
    component: lazyPage(() => import('../pages/settings/prices-page.tsx')),
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren(routes),
  // The router's own parser would turn texts into numbers and booleans.
  parseSearch: (query) => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch: stringifySearchWith(String),
  defaultPreload: 'intent',
  defaultPendingMs: 200,
  defaultPendingComponent: SkeletonPage,
  defaultErrorComponent: ErrorPage,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
