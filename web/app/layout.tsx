import { AppShell, Box, Burger, Group, Loader, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { type KeyboardEvent, lazy, Suspense, useEffect, useRef } from 'react'
import { isWebPath } from '../../contract/web-paths.ts'
import { cameWithSession } from '../api/kept-token.ts'
import { MeProvider, useMe, useSignedIn } from '../api/me.ts'
import { HubProblem } from '../api/problem.ts'
import { rememberPage } from '../api/recent-pages.ts'
import { permissionChanges, takeFlashMessage } from '../api/session.ts'
import { ProblemNotice } from '../components/problem-notice.tsx'
import { toastOf } from '../components/toast.ts'
import { AccountMenu } from './account-menu.tsx'
import { AddressNotice } from './address-notice.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { ForbiddenPage } from './forbidden-page.tsx'
import styles from './layout.module.css'
import { destinationAt, mayOpen } from './navigation.ts'
import { NavigationLinks } from './navigation-links.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { PaletteButton } from './palette-button.tsx'
import { SchemeToggle } from './scheme-toggle.tsx'
import { SectionTabs } from './section-tabs.tsx'
import { TenantSwitcher } from './tenant-switcher.tsx'

const NotificationBell = lazy(() => import('./notification-bell.tsx'))

/** The frame of every page. It waits until the user is known; without a session it sends the user to `/sign-in`. */
export function Layout() {
  const isNowhere = useRouterState({ select: ({ location }) => !isWebPath(location.pathname) })
  // An unknown address shows the not-found page to everyone, without requiring authentication.
  const isAlone = isNowhere && !cameWithSession()
  const { data: me, error, failureReason, refetch } = useSignedIn(!isAlone)
  useEffect(() => {
    const word = takeFlashMessage()
    if (word) toastOf('You are somewhere else now', word)
  }, [])
  useEffect(() => {
    const again = () => void refetch()
    permissionChanges.addEventListener('changed', again)
    return () => permissionChanges.removeEventListener('changed', again)
  }, [refetch])
  if (me) {
    return (
      <MeProvider value={me}>
        <Frame />
      </MeProvider>
    )
  }
  return (
    <Box component="main" className={styles.alone}>
      {isAlone ? (
        <NotFoundPage />
      ) : error ? (
        <ProblemNotice error={error} title="You could not be signed in" onRetry={() => void refetch()} />
      ) : (
        <Group role="status">
          <Loader size="sm" aria-hidden />
          <Text>{failureReason ? waitingFor(failureReason) : 'Looking for your session …'}</Text>
        </Group>
      )}
    </Box>
  )
}

/** Returns the text for a failed first attempt while another is in flight. */
function waitingFor(reason: unknown): string {
  if (!(reason instanceof HubProblem) || reason.status !== 429) return 'Cannot reach the Hub yet. Trying again …'
  const seconds = reason.retryAfterSeconds ?? 60
  return `Too many pages were opened within a minute. This one goes on by itself in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`
}

function Frame() {
  const me = useMe()
  const [opened, { toggle, close }] = useDisclosure()
  const pathname = useRouterState({ select: (state) => state.location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a narrow screen shows the page that was gone to, not the menu
  useEffect(close, [pathname])
  useEffect(() => rememberPage(`${me.tenant} ${me.subject}`, pathname), [me, pathname])
  const here = destinationAt(pathname)
  const burger = useRef<HTMLButtonElement>(null)
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !opened) return
    close()
    burger.current?.focus()
  }

  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: 'md', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', lg: 'xl' }}
    >
      <a href="#page" className="skip-link">
        Skip to content
      </a>
      <AppShell.Header className={styles.header}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              ref={burger}
              onKeyDown={closeByKey}
              opened={opened}
              onClick={toggle}
              hiddenFrom="md"
              size="sm"
              aria-label={opened ? 'Close navigation' : 'Open navigation'}
            />
            <img src="/icon.svg" alt="" width={26} height={26} />
            <TenantSwitcher />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <PaletteButton />
            {me.may('listNotifications') && (
              <Suspense fallback={<Box w={34} />}>
                <NotificationBell />
              </Suspense>
            )}
            <SchemeToggle />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Sections" className={styles.navbar} mod={{ opened }} onKeyDown={closeByKey}>
        <NavigationLinks />
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1} className={styles.page}>
        <ConnectionBanner />
        <SectionTabs />
        {here && !mayOpen(here, me) ? (
          <ForbiddenPage label={here.label} />
        ) : (
          <>
            <AddressNotice />
            <Outlet />
          </>
        )}
      </AppShell.Main>
    </AppShell>
  )
}
