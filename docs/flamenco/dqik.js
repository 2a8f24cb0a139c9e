// SPDX-License-Identifier: GPL-3.0-or-later
// A job type for Flamenco 3.5 and newer: bakes, mends or retargets many files, each as a task of its own.
// Copy it into the folder `scripts` beside flamenco-manager; see docs/farms.md.

var JOB_TYPE = {
    label: "DQIK",
    description: "Bake, mend or retarget many files, each as a task",
    settings: [
        { key: "work", type: "string", choices: ["Bake", "Mend", "Retarget"], default: "Bake", required: true,
          description: "Bake: key the solved bones. Mend: plant feet that slide. Retarget: give the figure of this file "
              + "the motions of the folder" },
        { key: "folder", type: "string", subtype: "dir_path", visible: "submission",
          description: "Folder with the files to work on, a task for each. Empty: this file alone" },
        { key: "output", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder for the results and their reports" },
        { key: "armatures", type: "string", default: "",
          description: "Names of armatures, separated by commas. Empty: all that fit" },
        { key: "source", type: "string", default: "",
          description: "Retarget: the armature that has the motion. Empty: the only one in its file" },
        { key: "frames", type: "string", default: "",
          description: "A range as 1-250. Empty: the scene's to bake, else those of the motion" },
        { key: "all_actions", type: "bool", default: false,
          description: "Mend, Retarget: all motions of an armature, not only the assigned one" },
        { key: "smooth", type: "float", default: 0.0, propargs: { min: 0.0, max: 1.0 },
          description: "Bake: 0 solves each frame on its own, up to 1 all frames as one smooth motion" },
        { key: "strict", type: "bool", default: false, label: "Refused Is Failed",
          description: "A task fails if an armature is refused. Else the report alone says so" },

        // Found out when the job is submitted. Paths stand alone, so that Flamenco can replace them on each system.
        { key: "blendfile", type: "string", required: true, visible: "web" },
        { key: "folder_path", type: "string", visible: "web",
          eval: "str(abspath(settings.folder)) if settings.folder else ''" },
        { key: "output_path", type: "string", visible: "web",
          eval: "str(abspath(settings.output)) if settings.output else ''" },
        { key: "names", type: "string", visible: "web",
          eval: "'\\n'.join(sorted(p.name for p in Path(abspath(settings.folder)).iterdir() "
              + "if not p.name.startswith('.'))) "
              + "if settings.folder and Path(abspath(settings.folder)).is_dir() else ''" },
    ],
};

// When it submits, Flamenco saves the open file under such a name, and for some time that file lies beside the others.
var SUBMITTED = /\.flamenco\.blend$/i;

function compileJob(job) {
    var settings = job.settings;
    if (!settings.output_path) {
        throw "Choose the folder for the results.";
    }
    var files = filesOf(settings);
    var options = optionsOf(settings);
    if (sameFolder(settings.output_path, settings.folder_path || path.dirname(settings.blendfile))) {
        throw "The results need a folder of their own: choose another output.";
    }
    files.forEach(function (file) {
        job.addTask(taskOf(settings, file, options));
    });
}

// The files to work on: those of the folder that the work reads, or the file that was submitted.
function filesOf(settings) {
    if (!settings.folder_path) {
        if (settings.work === "Retarget") {
            throw "Choose the folder of the motions: the figure of this file gets each of them.";
        }
        return [settings.blendfile];
    }
    var ending = settings.work === "Bake" ? /\.blend$/i : /\.(blend|bvh|fbx|glb|gltf|usd|usda|usdc|usdz)$/i;
    var names = (settings.names || "").split("\n").filter(function (name) {
        return ending.test(name) && !SUBMITTED.test(name);
    });
    if (!names.length) {
        throw "There is no file to work on in " + settings.folder_path + ".";
    }
    var taken = {};
    names.forEach(function (name) {
        var result = resultOf(name).toLowerCase();
        if (taken[result]) {
            throw taken[result] + " and " + name + " would both become " + result + ": put them into two folders.";
        }
        taken[result] = name;
    });
    return names.map(function (name) {
        return path.join(settings.folder_path, name);
    });
}

// The arguments of all tasks.
function optionsOf(settings) {
    var options = [];
    (settings.armatures || "").split(",").forEach(function (name) {
        if (name.trim()) {
            options.push("--armature", name.trim());
        }
    });
    if (settings.frames && settings.frames.trim()) {
        var range = /^\s*(-?\d+)\s*-\s*(-?\d+)\s*$/.exec(settings.frames);
        if (!range) {
            throw "The frames have to be a range as 1-250, but are " + settings.frames + ".";
        }
        options.push("--start", range[1], "--end", range[2]);
    }
    if (settings.work !== "Bake" && settings.all_actions) {
        options.push("--all-actions");
    }
    if (settings.work === "Bake" && settings.smooth > 0) {
        options.push("--smooth", String(settings.smooth));
    }
    if (settings.work === "Retarget") {
        options.push("--body", settings.blendfile);
        if (settings.source && settings.source.trim()) {
            options.push("--source", settings.source.trim());
        }
    }
    if (!settings.strict) {
        options.push("--allow-refused");
    }
    return options;
}

// A file is a task: it has what its frames need, so no task waits for another and nothing has to be put together.
function taskOf(settings, file, options) {
    var name = path.basename(file).replace(SUBMITTED, ".blend");
    var task = author.Task(settings.work.toLowerCase() + " " + name, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: "", // the command opens its file itself
        args: [
            "--command", "dqik_" + settings.work.toLowerCase(),
            "--input", file,
            "--output", path.join(settings.output_path, resultOf(name)),
            "--report", path.join(settings.output_path, name + ".json"),
        ].concat(options),
    }));
    return task;
}

// The name of the result: walk.bvh becomes walk.bvh.blend.
function resultOf(name) {
    return /\.blend$/i.test(name) ? name : name + ".blend";
}

function sameFolder(one, other) {
    function bare(folder) {
        return folder.replace(/\\/g, "/").replace(/\/+$/, "");
    }
    return bare(one) === bare(other);
}
