import { MemoryStore } from '@rollgate/core';
import { describeStore } from '@rollgate/store-conformance';

describeStore('MemoryStore', (clock) => new MemoryStore({ clock }), { runs: 2000 });
