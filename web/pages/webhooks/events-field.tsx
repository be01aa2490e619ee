import { Checkbox, Fieldset, Stack, TagsInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { governancePrefix } from '../../../contract/webhook-events.ts'
import { FieldsetError } from '../../ui/fieldset-error.tsx'
import { allGovernance, eventGroups, governanceChoices } from './event-kinds.ts'

interface EventsFieldProps {
  value: readonly string[]
  onChange(events: string[]): void
  error?: ReactNode
}

/** Selects the events of an endpoint, by family or by kind. */
export function EventsField({ value, onChange, error }: EventsFieldProps) {
  const set = (name: string, wanted: boolean) =>
    onChange(wanted ? [...value.filter((each) => each !== name), name] : value.filter((each) => each !== name))
  const governance = value.filter((name) => name.startsWith(governancePrefix) && name !== allGovernance)
  const everything = value.includes(allGovernance)
  return (
    <Fieldset legend="Subscribed events">
      <Stack gap="md">
        {eventGroups.map(({ family, label, kinds }) => {
          const all = value.includes(family)
          return (
            <Stack key={family} gap={8}>
              <Checkbox
                label={`${label}: everything (${family})`}
                checked={all}
                onChange={(event) => set(family, event.currentTarget.checked)}
                styles={{ label: { fontWeight: 600 } }}
              />
              {kinds.map(({ name, meaning }) => (
                <Checkbox
                  key={name}
                  ml="lg"
                  label={name}
                  description={meaning}
                  checked={all || value.includes(name)}
                  disabled={all}
                  onChange={(event) => set(name, event.currentTarget.checked)}
                />
              ))}
            </Stack>
          )
        })}
        <Stack gap={8}>
          <Checkbox
            label={`Governance: everything (${allGovernance})`}
            description="Sign-ins and refusals, changes of settings, exports, holds, deletions, tampering that was found. For a SIEM."
            checked={everything}
            onChange={(event) => set(allGovernance, event.currentTarget.checked)}
            styles={{ label: { fontWeight: 600 } }}
          />
          {!everything && (
            <TagsInput
              ml="lg"
              label="Single governance events"
              description="Choose families or kinds. Events of your own programs are named governance.custom. and what follows."
              placeholder={governance.length === 0 ? 'governance.auth.*' : undefined}
              data={governanceChoices}
              value={governance}
              onChange={(chosen) =>
                onChange([...value.filter((name) => !name.startsWith(governancePrefix)), ...new Set(chosen)])
              }
              acceptValueOnBlur
              maxDropdownHeight={260}
            />
          )}
        </Stack>
        <FieldsetError>{error}</FieldsetError>
      </Stack>
    </Fieldset>
  )
}
