// A chart of Vega-Lite, drawn by the bundle that this server makes from vl-convert: nothing from other hosts.
let loading;

export default {
  template: `<div class="chart-drawing" role="img" :aria-label="description"></div>`,
  props: { spec: Object, description: String, bundle: String },
  mounted() {
    this.draw();
  },
  beforeUnmount() {
    this.view?.finalize();
  },
  watch: {
    spec(now, before) {
      if (JSON.stringify(now) !== JSON.stringify(before)) this.draw();
    },
  },
  methods: {
    async draw() {
      loading ??= import(window.path_prefix ? window.path_prefix + this.bundle : this.bundle);
      await loading;
      if (!this.$el?.isConnected) return; // the page has changed meanwhile
      this.view?.finalize();
      const spec = JSON.parse(JSON.stringify(this.spec));
      spec.datasets = { ...(spec.datasets ?? {}), ...(this.waiting ?? {}) };
      const drawn = await window.vegaEmbed(this.$el, spec, { ast: true, actions: false, renderer: "svg" });
      this.view = drawn.view;
      // The label of the whole says what it shows; the parts of the drawing would only repeat it.
      this.$el.querySelector("svg")?.setAttribute("aria-hidden", "true");
      this.view.addEventListener("click", (event, item) => {
        if (item?.datum) this.$emit("pick", JSON.parse(JSON.stringify(item.datum)));
      });
    },
    put(datasets) {
      this.waiting = { ...(this.waiting ?? {}), ...datasets };
      if (!this.view) return;
      for (const [name, rows] of Object.entries(datasets)) this.view.data(name, rows);
      this.view.runAsync();
    },
  },
};
