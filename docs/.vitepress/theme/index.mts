import { type Theme, useRoute } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h, nextTick, onBeforeUnmount, onMounted, watch } from 'vue';
import { applyFramework, rememberFramework } from './framework.mts';
import InstallCommand from './InstallCommand.vue';
import LivePlayground from './LivePlayground.vue';
import NotFound from './NotFound.vue';
import './style.css';
import './home.css';
import './code.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp({ app }) {
    app.component('InstallCommand', InstallCommand);
    app.component('LivePlayground', LivePlayground);
  },
  setup() {
    const route = useRoute();
    onMounted(() => {
      applyFramework();
      document.addEventListener('change', rememberFramework);
    });
    onBeforeUnmount(() => document.removeEventListener('change', rememberFramework));
    // The content of another page comes after its path.
    watch(
      () => route.data,
      () => nextTick(() => applyFramework()),
    );
  },
} satisfies Theme;
